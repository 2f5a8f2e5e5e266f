import Messages

extension Command {
    /// The command `update`. It refuses requests that are never allowed; the updater refuses those that only root can judge (the
    /// disk, the packages' source, which version is older).
    public static let update = Command(
        "update", "Install another version of the agent; it goes back unless it works and is confirmed.",
        members: [
            .init("version", .text, "of the Debian package, such as 0.2.0~deb13", isNeeded: true),
            .init("auto", .flag, "nobody needs to confirm it", standard: "false"),
            .init("allow_downgrade", .flag, "an older version, too", standard: "false"),
        ],
        result: "`accepted`, then `done` when the updater has heard it, both with `version`; "
            + "what becomes of it comes on `state/update`",
        check: UpdateRequest.problem
    ) { request, context in
        if let problem = context.update.problem { return .refuse([problem]) }
        return .effect(
            .main(
                .update(
                    UpdateRequest(
                        version: request.members.text("version") ?? "", id: request.id,
                        isAutomatic: request.members.flag("auto"),
                        allowsDowngrade: request.members.flag("allow_downgrade")))))
    }

    public static let updateConfirm = Command(
        "update-confirm", "Confirm that a new version of the agent is good.",
        members: [
            .init("version", .text, "the version that runs on trial, as in `state/update`", isNeeded: true)
        ], result: "`version`",
        check: UpdateRequest.problem
    ) { request, context in
        let version = request.members.text("version") ?? ""
        guard let trial = context.update.onTrial else {
            return .refuse([CodedError("", .conflict, "No new version waits for a confirmation.")])
        }
        guard trial == version else {
            return .refuse([
                CodedError(
                    "/version", .conflict, "Another version waits for a confirmation.", got: .string(version),
                    allowed: trial)
            ])
        }
        return .effect(.main(.confirmUpdate(version)))
    }
}

extension UpdateRequest {
    /// Returns the fault of the member `version` of a command; nil: none.
    static func problem(_ members: CommandMembers) -> CodedError? {
        guard let version = members.text("version"), !isVersion(version) else { return nil }
        return CodedError(
            "/version", .range, "This is no version of a Debian package.", got: .string(version), allowed: versionForm)
    }
}

/// Obstacles to an update that the agent knows of.
public struct UpdateSituation: Sendable {
    /// Messages that may wait for the broker: more than that are delivered first.
    public static let mostWaiting = 500

    /// There is a program that carries it out.
    public var isPossible = false
    /// The settings file has `update` under `locked`.
    public var isLocked = false
    /// The phase of an update that has not ended; nil: there is none.
    public var underWay: String?
    /// The version that waits for a confirmation.
    public var onTrial: String?
    public var isEventOpen = false
    /// Messages that wait for the broker.
    public var waiting = 0
    public var isClockSynced = true

    public init() {}

    /// Why there can be no update now; nil: there can.
    var problem: CodedError? {
        if isLocked {
            return CodedError(
                "", .locked, "The settings file of this station does not allow updates: `update` is under `locked`.")
        }
        guard isPossible else {
            return CodedError(
                "", .unavailable,
                "This station cannot be updated from afar: the package seismote-update is not installed, or the agent does "
                    + "not run as its service.")
        }
        if let underWay {
            return CodedError(
                "", .busy, "An update is under way (\(underWay)): ask again when it has ended.",
                allowed: "1 at a time")
        }
        if isEventOpen { return CodedError("", .busy, "An event is open: ask again when it has ended.") }
        if waiting > Self.mostWaiting {
            return CodedError(
                "", .unavailable, "\(waiting) messages wait for the broker: let them be delivered first.",
                allowed: "at most \(Self.mostWaiting)")
        }
        guard isClockSynced else {
            return CodedError(
                "", .unavailable,
                "The clock of this station is not synchronised: signatures of packages, and certificates, cannot be judged."
            )
        }
        return nil
    }
}

import Messages
import Settings
import Values

/// Order to the thread that samples, which carries it out between two blocks.
public enum SamplingOrder: Sendable, Equatable {
    case resetExtremes
    /// An event as if the ground had shaken, `test: true` in all its messages.
    case testEvent
    /// At rest, for so many seconds: offset, noise and 1 g.
    case calibrate(seconds: Double)
    /// The chip's own; the stream has a gap while it runs.
    case selfTest
    /// Other traces for a while, beside those of the settings, on `data/stream`; one such set at a time.
    indirect case stream(TraceConfiguration, seconds: Double)
    /// Ends such traces before their time.
    case endStream
    /// Confirmation by a network of an event that may still be open.
    indirect case confirm(EventConfirmation)
}

/// Order to the thread that owns the alarm's line.
public enum AlarmOrder: Sendable, Equatable {
    /// Ends an alarm or a test.
    case silence
    /// Plays steps of 0 and 1, each for so many seconds; nil: 16 random ones.
    case test(String?, step: Double)
}

/// Commands for the thread that samples, and for the one that has the alarm's line.
extension Command {
    public static let stream = Command(
        "stream", "Receive traces at the full rate, or other traces, for a while.",
        members: [
            .init(
                "duration_s", .number(0...3600, unit: "s"), "for so long; 0 ends it", standard: "0 ends it",
                isNeeded: true),
            .init("rate_hz", .any, "samples per second", standard: "the sensor's"),
            .init("block_s", .any, "seconds in a message"),
            .init("signals", .any, "such as `raw` and `filtered`"),
            .init("filter", .any, "before the rate is lowered"),
            .init("encoding", .any, "`json`, `cbor`, `mseed2` or `mseed3`"),
        ],
        result: "`accepted` with `until`, then `done`", needsID: true
    ) { request, context in
        guard let seconds = request.members.number("duration_s"), seconds > 0 else {
            return .effect(.sampling(.endStream))
        }
        let fields = request.members.object(of: request.command.members.map(\.name).filter { $0 != "duration_s" })
        do throws(CodedErrors) {
            return .effect(.sampling(.stream(try traces(fields, rate: context.rate), seconds: seconds)))
        } catch { return .refuse(error.told) }
    }

    /// Fields as those of `trace`, with its rules and errors; the rate is the sensor's own where none is given.
    /// - Parameter rate: of the sensor (Hz).
    static func traces(_ fields: Value, rate: Double) throws(CodedErrors) -> TraceConfiguration {
        guard case .object(var members) = fields else { return Configuration().trace }
        if fields["rate_hz"] == nil { members.append(.init("rate_hz", .double(rate))) }
        do throws(CodedErrors) {
            var trace = try Settings.load(
                overlay: ["sensor": ["rate_hz": .double(rate)], "trace": .object(members)]
            ).configuration.trace
            trace.enabled = true
            trace.onlyInEvents = false
            return trace
        } catch {
            throw CodedErrors(
                error.errors.map { one in
                    var one = one
                    if one.path.hasPrefix("/trace") { one.path = String(one.path.dropFirst("/trace".count)) }
                    return one
                })
        }
    }

    /// A network of stations tells each of them whose onset is in a network event; see `detection.event.confirmation`.
    static let confirmEvent = Command(
        "confirm-event", "Say that neighbours have seen the earthquake of an event, too.",
        members: [
            .init("event_id", .text, "its `event_id`", isNeeded: true),
            .init("network_event", .text, "`event_id` of the network event, `net-...`", isNeeded: true),
            .init("confirmed", .flag, "false takes it back: the network event was none", standard: "true"),
        ], result: "`event_id`, `confirmed`",
        check: { members in
            guard let name = members.text("network_event"), !EventID.isOfNetwork(name) else { return nil }
            return CodedError(
                "/network_event", .range, "The id of a network event has to stand here.", got: .string(name),
                allowed: "net- and 1 to 60 of letters, digits, _ and -")
        }
    ) { request, context in
        guard context.takesConfirmations else { return .refuse([takesNone]) }
        let members = request.members
        let confirmation = EventConfirmation(
            eventID: members.text("event_id") ?? "", networkEvent: members.text("network_event") ?? "",
            isConfirmed: !members.has("confirmed") || members.flag("confirmed"))
        // The open event is marked by the thread that has it; what is kept is the reply's business.
        return .effect(.both(.confirm(confirmation), .confirm(confirmation)))
    }

    private static let takesNone = CodedError(
        "", .unavailable, "This station's events are not marked by others: detection.event.confirmation is false.",
        allowed: "with detection.event.confirmation: true")

    public static let resetExtremes = Command(
        "reset-extremes", "Start the minimum and maximum values again.", result: "`since`"
    ) { _, _ in .effect(.sampling(.resetExtremes)) }

    public static let calibrate = Command(
        "calibrate", "Measure offset and noise of a station's sensor at rest.",
        members: [.init("duration_s", .number(1...600, unit: "s"), "time at rest", standard: "20")],
        result: "offset, noise and magnitude at rest; also `sensor.calibration` in `state/info`"
    ) { request, _ in .effect(.sampling(.calibrate(seconds: request.members.number("duration_s") ?? 20))) }

    public static let selftest = Command(
        "selftest", "Run the chip's own self-test at a running station.", result: "the chip's report", most: 1
    ) { _, _ in .effect(.sampling(.selfTest)) }

    public static let testEvent = Command(
        "test-event", "Make an event as if the ground had shaken, marked as a test.",
        result: "`event_id`; all its messages have `test: true`"
    ) { _, _ in .effect(.sampling(.testEvent)) }

    public static let silence = Command(
        "silence", "End an alarm, or a test of its line.", result: "`silenced`: whether there was one"
    ) { _, _ in .effect(.alarm(.silence)) }

    /// A pattern that nobody can guess shows that it was this test that switched the relay.
    static let alarmTest = Command(
        "alarm-test", "Switch the alarm's line in a pattern, to see and hear whether it works.",
        members: [
            CommandMember("pattern", .text, "up to 64 digits, 1 for on and 0 for off", standard: "16 random ones"),
            CommandMember("step_s", .number(0.05...5, unit: "s"), "how long each of them lasts", standard: "0.25"),
        ], result: "`pattern` as it was played; fails where the line does not follow", most: 1,
        check: { members in
            guard let pattern = members.text("pattern") else { return nil }
            let isGood = (1...64).contains(pattern.utf8.count) && pattern.utf8.allSatisfy { $0 == 48 || $0 == 49 }
            return isGood
                ? nil
                : CodedError(
                    "/pattern", .range, "This is no pattern.", got: .string(pattern),
                    allowed: "1 to 64 of the digits 0 and 1")
        }
    ) { request, _ in
        .effect(
            .alarm(.test(request.members.text("pattern"), step: request.members.number("step_s") ?? 0.25)))
    }
}

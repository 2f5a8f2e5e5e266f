import Values

/// The updater's file `state.json`: how its update stands, and the last request that it has
/// refused meanwhile. The agent publishes it.
package struct UpdateStatement: Sendable, Equatable {
    package var message: UpdateMessage
    /// A request that came while another update was under way, with the reason.
    package var refused: UpdateMessage?

    package init(_ message: UpdateMessage, refused: UpdateMessage? = nil) {
        (self.message, self.refused) = (message, refused)
    }

    package init?(json: [UInt8]) {
        guard let value = try? JSONReader.read(json), let message = UpdateMessage(value) else { return nil }
        self.init(message, refused: value["refused"].flatMap { UpdateMessage($0) })
    }

    /// One line.
    package var json: [UInt8] {
        var members = message.members
        if let refused { members.append(.init("refused", .object(refused.members))) }
        return Value.object(members).json() + [10]
    }
}

extension UpdateMessage {
    /// The statement in a file of the updater; nil for any other file.
    public init?(json: [UInt8]) {
        guard let value = try? JSONReader.read(json) else { return nil }
        self.init(value)
    }

    fileprivate init?(_ value: Value) {
        guard let phase = Self.text(value, "phase").flatMap(Phase.init),
            let since = value["t"]?.anyTime
        else { return nil }
        self.init(phase: phase, since: since)
        (id, version, from) = (Self.text(value, "id"), Self.text(value, "version"), Self.text(value, "from"))
        (installed, reason) = (Self.text(value, "installed"), Self.text(value, "reason"))
        until = value["until"]?.anyTime
        ended = value["ended"].map { Counts($0) }
    }

    private static func text(_ value: Value, _ name: String) -> String? {
        guard let text = value[name]?.rawText, !text.isEmpty else { return nil }
        return text
    }

    /// As the updater's file has it: times of whole seconds.
    fileprivate var members: [Value.Member] {
        func seconds(_ time: Int64) -> Value {
            .string(Timestamp(nanoseconds: time).description.prefix(19) + "Z")
        }
        var members: [Value.Member] = [.init("phase", .string(phase.rawValue)), .init("t", seconds(since))]
        for (name, text) in [("id", id), ("version", version), ("from", from)] {
            if let text { members.append(.init(name, .string(text))) }
        }
        if let until { members.append(.init("until", seconds(until))) }
        if let installed { members.append(.init("installed", .string(installed))) }
        if let ended { members.append(.init("ended", ended.value)) }
        if let reason { members.append(.init("reason", .string(reason))) }
        return members
    }
}

extension UpdateMessage.Counts {
    /// As the updater keeps it.
    package var value: Value {
        [
            "updated": .int(Int64(updated)), "returned": .int(Int64(returned)), "refused": .int(Int64(refused)),
            "failed": .int(Int64(failed)),
        ]
    }

    package init(_ value: Value) {
        func count(_ name: String) -> Int {
            guard case .int(let number)? = value[name], (0...999_999_999).contains(number) else { return 0 }
            return Int(number)
        }
        self.init(
            updated: count("updated"), returned: count("returned"), refused: count("refused"), failed: count("failed"))
    }
}

extension UpdateMessage.Counts {
    package init(text: String) {
        self.init((try? JSONReader.read(Array(text.utf8))) ?? .null)
    }

    package var text: String { String(decoding: value.json(), as: UTF8.self) }
}

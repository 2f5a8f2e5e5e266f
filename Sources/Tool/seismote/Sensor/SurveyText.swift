import Messages
import Sensors
import Values

extension Survey {
    static let obstaclesTitle = "To fix:"
    static let choiceTitle = "driver: auto would use"

    /// For people.
    var text: String {
        var lines = ["Devices of the kernel (IIO):"]
        lines += Self.lines(findings.filter(\.place.isIIO))
        lines.append("I2C buses:")
        for bus in buses {
            lines.append("  /dev/i2c-\(bus.number)  \(bus.name)")
            lines += bus.obstacles.map { "    \($0.error.message)" }
        }
        if buses.isEmpty { lines.append("  none") }
        lines.append("On the buses:")
        lines += Self.lines(findings.filter { !$0.place.isIIO })
        for obstacle in obstacles { lines.append("Missing: \(obstacle.error.message)") }
        if let choice {
            lines.append("\(Self.choiceTitle) \(choice.chip) (\(choice.placeName)).")
        } else {
            lines.append("\(Self.choiceTitle) nothing: \(problem.message).")
        }
        if !commands.isEmpty {
            lines.append(Self.obstaclesTitle)
            lines += commands.map { "  \($0)" }
        }
        return lines.joined(separator: "\n")
    }

    private static func lines(_ findings: [Finding]) -> [String] {
        guard !findings.isEmpty else { return ["  none"] }
        return findings.flatMap { finding -> [String] in
            var line = "  \(finding.placeName)  \(finding.chip.isEmpty ? "?" : finding.chip)  \(finding.certainty.name)"
            if !finding.kernelDriver.isEmpty { line += "  driver \(finding.kernelDriver)" }
            if !finding.note.isEmpty { line += "  (\(finding.note))" }
            return [line] + finding.obstacles.map { "    \($0.error.message)" }
        }
    }

    /// For programs.
    var value: Value {
        .object([
            .init("findings", .array(findings.map(\.value))),
            .init(
                "buses",
                .array(
                    buses.map { bus in
                        .object([
                            .init("bus", .int(Int64(bus.number))), .init("name", .string(bus.name)),
                            .init("obstacles", .array(bus.obstacles.map(\.value))),
                        ])
                    })),
            .init("obstacles", .array(obstacles.map(\.value))), .init("use", choice?.value ?? .null),
            .init("problem", choice == nil ? .string(problem.message) : .null),
            .init("commands", .array(commands.map { .string($0) })),
        ])
    }
}

extension Finding.Certainty {
    fileprivate var name: String {
        switch self {
        case .unknown: "unknown"
        case .named: "named"
        case .certain: "certain"
        }
    }
}

extension Finding {
    fileprivate var value: Value {
        var members: [Value.Member] = []
        switch place {
        case .iio(let device):
            members = [.init("driver", .string("iio")), .init("device", .string(device))]
        case .i2c(let bus, let address):
            members = [
                .init("driver", .string("i2c")), .init("bus", .int(Int64(bus))), .init("address", .int(Int64(address))),
            ]
        }
        members += [
            .init("chip", .string(chip)), .init("certainty", .string(certainty.name)),
            .init("kernel_driver", .string(kernelDriver)), .init("note", .string(note)),
            .init("obstacles", .array(obstacles.map(\.value))),
        ]
        return .object(members)
    }
}

extension Obstacle {
    fileprivate var value: Value {
        .object([
            .init("code", .string(error.code.rawValue)), .init("message", .string(error.message)),
            .init("command", .string(command)), .init("fatal", .bool(isFatal)),
        ])
    }
}

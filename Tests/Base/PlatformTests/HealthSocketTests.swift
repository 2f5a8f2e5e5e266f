import Foundation
import TestSupport
import Testing

@testable import Platform

@Suite struct HealthSocketTests {
    private static func withFolder<R>(_ name: String = "", _ body: (String) throws -> R) throws -> R {
        let folder = FileManager.default.temporaryDirectory.path + "/health-\(UUID().uuidString.prefix(8))\(name)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try body(folder)
    }

    /// The loop of a service, in another thread until somebody has been answered.
    private static func answering(_ folder: String, _ isWell: Bool, _ words: String) throws -> Wake {
        let (ready, stop) = (try Wake(), try Wake())
        Thread.detachNewThread {
            guard let socket = try? HealthSocket(folder: folder) else { return ready.signal() }
            ready.signal()
            while !stop.wait(milliseconds: 5) { socket.answer(isWell, words) }
        }
        #expect(ready.wait(milliseconds: 10_000))
        return stop
    }

    @Test(arguments: [(true, "connected, 3 stations"), (false, "no broker since 12 s"), (true, "")])
    func theAnswerIsThatOfTheLoop(isWell: Bool, words: String) throws {
        try Self.withFolder { folder in
            let stop = try Self.answering(folder, isWell, words)
            defer { stop.signal() }
            for _ in 0..<3 {
                #expect(HealthSocket.ask(folder: folder, milliseconds: 10_000) == .init(isWell: isWell, words: words))
            }
        }
    }

    @Test func aLoopThatHangsGivesNoAnswer() throws {
        try Self.withFolder { folder in
            let socket = try HealthSocket(folder: folder)
            defer { withExtendedLifetime(socket) {} }
            let answer = HealthSocket.ask(folder: folder, milliseconds: 50)
            #expect(!answer.isWell && answer.words == "it gave no answer within 50 ms")
        }
    }

    @Test func aServiceThatIsNotThereIsIllAndTheSocketOfOneThatWasKilledIsTakenOver() throws {
        try Self.withFolder { folder in
            #expect(HealthSocket.ask(folder: folder, milliseconds: 50).words.contains("No such file or directory"))
            // As SIGKILL leaves it: a name without anybody behind it.
            do {
                let dead = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
                var address = sockaddr_un()
                address.sun_family = sa_family_t(AF_UNIX)
                withUnsafeMutableBytes(of: &address.sun_path) {
                    $0.copyBytes(from: Array("\(folder)/health.sock".utf8))
                }
                let status = withUnsafePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        bind(dead, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                    }
                }
                #expect(status == 0)
                close(dead)
            }
            #expect(HealthSocket.ask(folder: folder, milliseconds: 50).words.contains("Connection refused"))
            let stop = try Self.answering(folder, true, "back")
            defer { stop.signal() }
            #expect(HealthSocket.ask(folder: folder, milliseconds: 10_000).isWell)
        }
    }

    @Test func nobodyElseMayAskAndALongPathIsNamed() throws {
        try Self.withFolder { folder in
            let socket = try HealthSocket(folder: folder)
            defer { withExtendedLifetime(socket) {} }
            let mode = try FileManager.default.attributesOfItem(atPath: "\(folder)/health.sock")[.posixPermissions]
            #expect(mode as? Int == 0o600)
        }
        let long = "/" + String(repeating: "x", count: 100)
        #expect(throws: HealthError.self) { try HealthSocket(folder: long) }
        #expect(HealthSocket.ask(folder: long, milliseconds: 50).words.contains("too long"))
    }
}

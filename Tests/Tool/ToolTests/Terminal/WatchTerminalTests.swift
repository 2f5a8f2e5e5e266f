import Foundation
import TestSupport
import Testing

/// `seismote ctl watch` as a person sees it.
@Suite(.timeLimit(.minutes(10))) struct WatchTerminalTests {
    private static let back = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"

    /// A station that has said everything, and a terminal that shows it.
    private final class Scene {
        let broker: Broker
        let station: FakeStation
        let terminal: TerminalProcess

        init(
            _ arguments: [String] = ["basement", "--window", "1"], width: Int = 100, height: Int = 30,
            environment: [String: String] = [:]
        ) throws {
            broker = try Broker()
            station = try FakeStation(broker, "basement")
            station.publish("state/summary", try Scene.vector("summary.json"), retained: true)
            terminal = try TerminalProcess(
                ["ctl", "watch", "--broker", "127.0.0.1:\(broker.port)"] + arguments, width: width, height: height,
                environment: environment)
        }

        deinit { if terminal.status == nil { terminal.signal(SIGKILL) } }

        static func vector(_ name: String) throws -> String {
            String(decoding: try Vectors.data("messages/\(name)"), as: UTF8.self)
        }

        /// Sends until it is shown: nobody may have subscribed yet.
        func send(_ topic: String, _ payload: [UInt8], until shown: (Screen) -> Bool) -> Bool {
            eventually(within: 30) {
                station.publish(topic, payload)
                usleep(50_000)
                return shown(terminal.screen)
            }
        }

        func trace(_ name: String = "trace.json") throws -> Bool {
            send("data/trace", Array(try Vectors.data("messages/\(name)"))) { Self.hasCurves($0) }
        }

        /// Whether there are any dots.
        static func hasCurves(_ screen: Screen) -> Bool {
            screen.text.unicodeScalars.contains { (0x2801...0x28ff).contains($0.value) }
        }
    }

    @Test func levelsTracesAndTriggers() throws {
        let scene = try Scene()
        #expect(try scene.trace(), "\(scene.terminal.output)")
        let lines = scene.terminal.settled.lines
        #expect(lines[0] == "basement  online  10:20:30 UTC  clock ntp ±2.1 ms  filtered at 20 Hz, 1 s", "\(lines[0])")
        #expect(lines[1].hasPrefix("x  ███") && lines[1].hasSuffix("rms 0.0123    peak 0.041    m/s²"), "\(lines[1])")
        #expect(lines[2].hasPrefix("    +0.02│") && lines.contains { $0.hasPrefix("    -0.02│") })
        // The second half of the four samples of x was triggered, those of y were not.
        let marks = lines.filter { $0.contains("└") }
        #expect(marks.count == 3 && marks[0].contains("▲") && !marks[1].contains("▲"), "\(marks)")
        #expect(lines.last { !$0.isEmpty } == "q or Ctrl-C ends")
        #expect(scene.terminal.output.contains("\u{1b}[31m"))
        #expect(!scene.terminal.screen.isCursorShown && scene.terminal.screen.isOther && !scene.terminal.echoes)
        #expect(scene.terminal.screen.unknown.isEmpty)
        scene.terminal.type("\u{3}")
        #expect(scene.terminal.wait() == 0)
        #expect(scene.terminal.output.hasSuffix(Self.back))
        #expect(scene.terminal.echoes)
    }

    /// Defect: traces in miniSEED were not shown.
    @Test func tracesInMiniSEEDLookAsThoseInJSON() throws {
        let json = try Scene()
        #expect(try json.trace())
        let records = try Scene()
        #expect(try records.trace("trace.mseed"), "\(records.terminal.screen.text)")
        func curves(_ scene: Scene) -> [String] {
            scene.terminal.settled.lines.map { $0.replacingOccurrences(of: "▲", with: "") }
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
        #expect(curves(records) == curves(json))
        #expect(records.terminal.screen.lines[0].hasSuffix("filtered at 20 Hz, 1 s"))
        // Half a record, and something that begins as one, are passed over.
        let whole = Array(try Vectors.data("messages/trace.mseed"))
        for wrong in [Array(whole.prefix(100)), Array("MS\u{3}".utf8) + [UInt8](repeating: 255, count: 300)] {
            records.station.publish("data/trace", wrong)
        }
        #expect(try records.trace("trace.mseed"))
        records.terminal.type("q")
        #expect(records.terminal.wait() == 0)
    }

    /// Defects: at a narrow terminal's edge stood the last letter of what had no room, below 14 lines the last ones were
    /// missing.
    @Test(arguments: [(60, 20), (40, 12), (30, 8), (10, 4), (140, 45)])
    func itFitsAnyTerminal(width: Int, height: Int) throws {
        let scene = try Scene()
        #expect(try scene.trace())
        scene.terminal.resize(width: width, height: height)
        let hint = Array("q or Ctrl-C ends".prefix(width == 10 ? 9 : 20)) + (width == 10 ? ["…"] : [])
        #expect(
            eventually(within: 20) { scene.terminal.screen.lines.last { !$0.isEmpty } == String(hint) },
            "\(scene.terminal.screen.text)")
        let lines = scene.terminal.settled.lines
        #expect(lines[0].hasPrefix("basement"))
        if width == 40 {
            #expect(lines[0] == "basement  online  10:20:30 UTC  clock n…")
            #expect(lines.count { $0.contains("rms") } == 3 && Scene.hasCurves(scene.terminal.settled))
        }
        if height == 8 { #expect(lines.count { $0.contains("rms") } == 3 && !lines.contains { $0.contains("└") }) }
        scene.terminal.type("q")
        #expect(scene.terminal.wait() == 0)
    }

    @Test func severalStationsAreATable() throws {
        let scene = try Scene([], width: 60, height: 10)
        let other = try FakeStation(scene.broker, "attic", online: "offline")
        #expect(scene.terminal.shows("attic     OFFLINE"), "\(scene.terminal.screen.text)")
        #expect(scene.terminal.shows("2 stations, q or Ctrl-C ends"))
        #expect(scene.terminal.screen.lines.allSatisfy { $0.count <= 60 })
        scene.terminal.type("q")
        #expect(scene.terminal.wait() == 0)
        _ = other
    }

    @Test func noColorIsObeyed() throws {
        let scene = try Scene(environment: ["NO_COLOR": "1"])
        #expect(try scene.trace())
        #expect(scene.terminal.screen.text.contains("▲"))
        scene.terminal.type("\u{3}")
        #expect(scene.terminal.wait() == 0)
        for code in ["31m", "2m", "0m"] { #expect(!scene.terminal.output.contains("\u{1b}[\(code)")) }
    }

    @Test(arguments: [["--plain"], []]) func withoutAScreenThereAreLines(more: [String]) throws {
        let scene = try Scene(
            ["basement", "--count", "1"] + more, environment: ["TERM": more.isEmpty ? "dumb" : "xterm"])
        let summary = Array(try Vectors.data("messages/summary.json"))
        #expect(
            eventually(within: 30) {
                scene.station.publish("state/summary", summary)
                usleep(50_000)
                return scene.terminal.status != nil
            })
        #expect(scene.terminal.wait() == 0)
        #expect(scene.terminal.output.contains("10:20:30  basement  rms x 0.0123"), "\(scene.terminal.output)")
        #expect(!scene.terminal.output.contains("\u{1b}"))
    }

    /// However it ends or rests, the terminal is as it was.
    @Test func theTerminalComesBack() throws {
        let scene = try Scene()
        #expect(scene.terminal.shows("basement  online"))
        scene.terminal.type("\u{1a}")
        #expect(eventually(within: 20) { scene.terminal.output.hasSuffix(Self.back) && scene.terminal.echoes })
        scene.terminal.signal(SIGCONT)
        #expect(eventually(within: 20) { scene.terminal.screen.isOther && !scene.terminal.echoes })
        #expect(scene.terminal.shows("basement  online"))
        scene.terminal.signal(SIGTERM)
        #expect(scene.terminal.wait() == 0)
        #expect(scene.terminal.output.hasSuffix(Self.back) && scene.terminal.echoes)
    }
}

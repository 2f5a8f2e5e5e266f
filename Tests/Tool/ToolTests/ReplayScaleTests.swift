import Foundation
import TestSupport
import Testing
import Values

/// What a count of a recording is worth, for `seismote replay`: told, in a StationXML file, or the recording is refused.
@Suite struct ReplayScaleTests {
    private static let ridgecrest = Vectors.folder.deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("deploy/recordings/ridgecrest-2019-07-06-clc.mseed").path
    private static let counts = ["HNE": 213945.0, "HNN": 213808, "HNZ": 213740]

    private static func sensitivity(_ value: String, _ units: String = "M/S**2") -> String {
        """
        <Response><InstrumentSensitivity><Value>\(value)</Value><Frequency>1</Frequency><InputUnits><Name>\(units)</Name>
        </InputUnits><OutputUnits><Name>COUNTS</Name></OutputUnits></InstrumentSensitivity></Response>
        """
    }

    private static func channel(
        _ code: String, _ response: String, start: String = "2010-01-01T00:00:00", end: String = "2599-12-31T23:59:59",
        location: String = ""
    ) -> String {
        "<Channel code=\"\(code)\" locationCode=\"\(location)\" startDate=\"\(start)\" endDate=\"\(end)\">\(response)</Channel>"
    }

    private static func xml(_ channels: String, head: String = "", root: String = "FDSNStationXML") -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>\(head)
        <\(root) xmlns="http://www.fdsn.org/xml/station/1" schemaVersion="1.1"><Source>test</Source>
        <Network code="CI"><Station code="CLC">\(channels)</Station></Network></\(root)>
        """
    }

    private static var whole: String {
        counts.map { channel($0.key, sensitivity("\($0.value)")) }.joined()
    }

    private func withFile<R>(_ text: String, _ body: (String) throws -> R) throws -> R {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("station-\(UUID()).xml").path
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }

    private func replay(_ more: [String], file: String = ridgecrest) throws -> Tool {
        try Tool(["replay", file, "--quiet"] + more)
    }

    private func withXML(_ text: String, file: String = ridgecrest) throws -> Tool {
        try withFile(text) { try replay(["--stationxml", $0], file: file) }
    }

    /// It said PGA 1 392 376 m/s² and JMA 13.7 of this recording.
    @Test func countsWithoutAScaleAreRefusedAndTheWaysAreNamed() throws {
        let tool = try replay([])
        #expect(tool.status == 65 && tool.output.isEmpty)
        for words in ["are counts", "--scale", "--stationxml", "sensor.replay.scale"] {
            #expect(tool.errors.contains(words), "\(tool.errors)")
        }
    }

    @Test func aStationXMLFileSaysTheScaleByCodesAndTime() throws {
        let scale = ["HNE", "HNN", "HNZ"].map { "\(1 / (Self.counts[$0] ?? 0))" }.joined(separator: ",")
        let told = try replay(["--scale", scale])
        #expect(told.status == 0, "\(told.errors)")
        let ends = told.output.split(separator: "\n").compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
        let peaks = ends.compactMap { ($0["payload"] as? [String: Any] ?? $0)["pga"] as? Double }
        #expect((4.5...6.5).contains(try #require(peaks.max())))
        #expect(try withXML(Self.xml(Self.whole)).output == told.output)
        // An epoch before, a location of others, and a prefix of the namespace.
        let more =
            Self.channel(
                "HNE", Self.sensitivity("1"), start: "2001-01-01T00:00:00Z", end: "2009-12-31T23:59:59.999999Z")
            + Self.channel("HNE", Self.sensitivity("5"), location: "10")
            + Self.channel("HHE", Self.sensitivity("7", "M/S"))
        #expect(try withXML(Self.xml(more + Self.whole)).output == told.output)
        let prefixed = Self.xml(Self.whole).replacingOccurrences(of: "</", with: "</f:")
            .replacingOccurrences(of: "<(?=[A-Z])", with: "<f:", options: .regularExpression)
            .replacingOccurrences(of: "xmlns=", with: "xmlns:f=")
        #expect(try withXML(prefixed).output == told.output)
        // By the gains of the stages, where the whole is not given.
        let stages = Self.counts.map { code, counts in
            Self.channel(
                code,
                """
                <Response><Stage number="1"><PolesZeros><InputUnits><Name>M/S**2</Name></InputUnits></PolesZeros>
                <StageGain><Value>0.5</Value></StageGain></Stage><Stage number="2"><Coefficients><InputUnits><Name>V</Name>
                </InputUnits></Coefficients><StageGain><Value>\(2 * counts)</Value></StageGain></Stage></Response>
                """)
        }
        #expect(try withXML(Self.xml(stages.joined())).output == told.output)
    }

    @Test(arguments: [
        (xml(counts.map { channel($0.key, sensitivity("\($0.value)", "M/S")) }.joined()), "measures M/S"),
        (xml(channel("HNZ", sensitivity("1"))), "no channel CI.CLC..HNE"),
        (xml(whole.replacingOccurrences(of: "2599", with: "2018")), "has no epoch that holds"),
        (xml(whole.replacingOccurrences(of: "2010", with: "yesterday")), "is not a valid time of an epoch"),
        (xml(whole + channel("HNE", sensitivity("9"))), "epochs of different sensitivity"),
        (xml(counts.map { channel($0.key, sensitivity("0")) }.joined()), "neither an InstrumentSensitivity nor"),
        (xml(counts.map { channel($0.key, sensitivity("1e-300")) }.joined()), "has a sensitivity of"),
        (xml(counts.map { channel($0.key, sensitivity("many")) }.joined()), "has a sensitivity of nan"),
        (xml(counts.map { channel($0.key, "") }.joined()), "neither an InstrumentSensitivity nor"),
        (xml(whole, root: "html"), "begins with <html>"), ("", "no XML"), ("<FDSNStationXML>", "no XML"),
        ("{}", "no XML"),
        (String(xml(whole).dropLast(20)), "no XML"),
        (String(repeating: "<FDSNStationXML>", count: 5000), "elements within more than 40 others"),
        (
            xml(
                whole,
                head: """
                    <!DOCTYPE a [<!ENTITY x "lol"><!ENTITY y "&x;&x;&x;&x;&x;&x;&x;&x;&x;"><!ENTITY z SYSTEM "file:///etc/passwd">]>
                    """), "a document type (DOCTYPE) is not allowed"
        ),
        (xml("&z;" + whole), "no XML: undefined entity"),
        (xml(whole).replacingOccurrences(of: "UTF-8", with: "EBCDIC-XX"), "no XML: unknown encoding"),
    ])
    func otherFilesAreRefusedWithTheReason(_ text: String, _ reason: String) throws {
        let tool = try withXML(text)
        #expect(tool.status == 65 && tool.output.isEmpty)
        #expect(tool.errors.contains(reason), "\(tool.errors)")
        #expect(tool.errors.split(separator: "\n").count == 1)
    }

    @Test func whatNeedsNoScaleNeedsNone() throws {
        let csv = "t,x,y,z\n" + (0..<300).map { "\(Double($0) / 100),0,0,9.8\n" }.joined()
        try withFile(csv) { path in
            #expect(try replay([], file: path).status == 0)
            #expect(try replay(["--unit", "g"], file: path).status == 0)
            let tool = try withXML(Self.xml(Self.whole), file: path)
            #expect(tool.status == 65 && tool.errors.contains("names no channels"))
        }
        for path in ["/none.xml", "/dev/zero", "/"] {
            let tool = try replay(["--stationxml", path])
            #expect(tool.status == 65 && tool.errors.hasPrefix(path), "\(tool.errors)")
        }
        #expect(try replay(["--stationxml", "a", "--scale", "1"]).status == 64)
    }

    /// `seismote --version` ended with exit status 64.
    @Test(arguments: ["seismote", "seismoted"]) func bothProgramsSayTheirVersion(program: String) throws {
        let child = try ChildProcess(AgentProcess.builtProgram(program), ["--version"])
        #expect(child.wait(within: 20) == 0 && child.output.hasPrefix("\(program) "), "\(child.errors)")
    }
}

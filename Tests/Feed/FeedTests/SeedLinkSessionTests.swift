import Feed
import Messages
import MiniSEED
import Settings
import Testing

struct SeedLinkSessionTests {
    private let identity = SeedLinkSession.Identity(software: "Seismote 1", organisation: "School")

    private func session() -> SeedLinkSession { SeedLinkSession(identity: identity) }

    private func text(_ session: inout SeedLinkSession) -> String {
        String(decoding: session.takeOutput(), as: UTF8.self)
    }

    private func ask(_ words: String, _ session: inout SeedLinkSession, _ archive: MemoryArchive) -> String {
        session.receive(Array(words.utf8), archive)
        session.pump(archive)
        return text(&session)
    }

    /// Numbers of the packets of version 3.
    private func numbers(_ bytes: [UInt8]) -> [String] {
        var found: [String] = []
        var place = 0
        while place + 520 <= bytes.count {
            found.append(String(decoding: bytes[place + 2..<place + 8], as: UTF8.self))
            place += 520
        }
        if place < bytes.count { found.append(String(decoding: bytes[place...], as: UTF8.self)) }
        return found
    }

    private func packets(_ words: String, _ archive: MemoryArchive, after answers: String) -> [String] {
        var session = session()
        session.receive(Array(words.utf8), archive)
        while session.pump(archive) {}
        let bytes = session.takeOutput()
        #expect(String(decoding: bytes.prefix(answers.utf8.count), as: UTF8.self) == answers)
        return numbers(Array(bytes.dropFirst(answers.utf8.count)))
    }

    @Test func greets() {
        var session = session()
        let answer = ask("HELLO\r", &session, MemoryArchive())
        #expect(answer.hasPrefix("SeedLink v4.0 (Seismote 1) :: SLPROTO:4.0 SLPROTO:3.1"))
        #expect(answer.hasSuffix("\r\nSchool\r\n"))
    }

    @Test func resumesByNumber() {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 5)
        archive.add("ROOF", packets: 3)
        // ObsPy writes 0x before the number.
        #expect(
            packets("STATION BASE XX\rDATA 0x4\rEND\r", archive, after: "OK\r\nOK\r\n") == ["000004", "000005"])
        #expect(packets("STATION ROOF XX\rDATA 000003\r\nEND\r\n", archive, after: "OK\r\nOK\r\n") == ["000003"])
        // The one after the newest: nothing yet. One that is long gone, or has never been: the oldest.
        #expect(packets("STATION ROOF XX\rDATA 4\rEND\r", archive, after: "OK\r\nOK\r\n") == [])
        #expect(packets("STATION ROOF XX\rDATA FF\rEND\r", archive, after: "OK\r\nOK\r\n").first == "000001")
    }

    @Test func resumesWhereNumbersBeginAnew() {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 6, first: 0xFF_FFFD)
        #expect(
            packets("STATION BASE XX\rDATA FFFFFF\rEND\r", archive, after: "OK\r\nOK\r\n")
                == ["FFFFFF", "000000", "000001", "000002"])
        #expect(packets("STATION BASE XX\rDATA 0x1000000\rEND\r", archive, after: "OK\r\nOK\r\n").first == "000000")
        #expect(packets("STATION BASE XX\rDATA 1\rEND\r", archive, after: "OK\r\nOK\r\n") == ["000001", "000002"])
    }

    @Test func servesStationsInTurnsAndNewOnesFromTheirBeginning() {
        var archive = MemoryArchive()
        archive.add("AAA", packets: 1)
        var session = session()
        session.receive(Array("STATION * XX\rDATA\rEND\r".utf8), archive)
        session.pump(archive)
        #expect(text(&session) == "OK\r\nOK\r\n")
        archive.append(to: 0, 1, "HNZ")
        archive.add("BBB", packets: 2)
        session.pump(archive)
        #expect(Set(numbers(session.takeOutput())) == ["000002", "000001"])
        #expect(session.packets == 3)
    }

    @Test func sendsAWindowOfTimeAndEnds() {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 300)
        let found = packets(
            "STATION BASE XX\rTIME 2023,11,14,22,13,30 2023,11,14,22,13,34\rEND\r", archive, after: "OK\r\nOK\r\n")
        #expect(found == ["000005", "000006", "000007", "000008", "END"])
    }

    @Test func fetchesWhatThereIsAndEnds() {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 3)
        #expect(
            packets("STATION BASE XX\rFETCH\rEND\r", archive, after: "OK\r\nOK\r\n")
                == ["000001", "000002", "000003", "END"])
    }

    @Test(arguments: [
        ("HNZ", ["000001", "000003"]), ("00HN?.D", ["000001", "000002", "000003", "000004"]),
        ("!HNZ", ["000002", "000004"]),
        ("HNZ.L", []), ("--HNZ", []), ("10HN?", []), ("*", ["000001", "000002", "000003", "000004"]),
    ])
    func selects(_ selector: String, _ wanted: [String]) {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 4, channels: ["HNZ", "HNN"])
        #expect(
            packets("STATION BASE XX\rSELECT \(selector)\rDATA 1\rEND\r", archive, after: "OK\r\nOK\r\nOK\r\n")
                == wanted)
    }

    @Test func streamsWithoutStation() {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 2)
        #expect(packets("SELECT HNZ\rDATA 1\r", archive, after: "OK\r\n") == ["000001", "000002"])
        #expect(packets("DATA 2\r", archive, after: "") == ["000002"])
    }

    @Test func answersWhoAsksForAllStationsByName() {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 2)
        #expect(packets("STATION * *\rDATA 1\rEND\r", archive, after: "OK\r\nOK\r\n") == ["000001", "000002"])
    }

    @Test func tellsItsStreamsInRecords() throws {
        var archive = MemoryArchive()
        for index in 0..<9 { archive.add("S\(index)", packets: 2, channels: ["HNZ", "HNN"]) }
        var session = session()
        session.receive(Array("INFO STREAMS\r".utf8), archive)
        var bytes = session.takeOutput()[...]
        var xml = ""
        while bytes.count >= 520 {
            let head = String(decoding: bytes.prefix(8), as: UTF8.self)
            bytes = bytes.dropFirst(8)
            #expect(head == (bytes.count > 512 ? "SLINFO *" : "SLINFO  "))
            let record = Array(bytes.prefix(512))
            let header = try record.withUnsafeBytes { try MiniSEEDParser.header($0) }
            #expect(header.source.station == "INFO" && header.payload.encodingCode == 0)
            #expect(header.start == archive.now)
            xml += String(decoding: record[56..<56 + header.payload.count], as: UTF8.self)
            bytes = bytes.dropFirst(512)
        }
        #expect(bytes.isEmpty)
        #expect(xml.contains("<station name=\"S8\" network=\"XX\" description=\"station &quot;S8&quot;\""))
        #expect(xml.contains("seedname=\"HNN\"") && xml.contains("begin_time=\"2023/11/14 22:13:20.000"))
        #expect(xml.hasSuffix("</seedlink>\n"))
    }

    // MARK: Version 4

    @Test func speaksVersion4() throws {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 3, channels: ["HNZ", "HNN"])
        var session = session()
        let words = "SLPROTO 4.0\r\nUSERAGENT test/1\r\nSTATION XX_B*\r\nSELECT 00_H_N_Z !*_X_*\r\nDATA 1\r\nEND\r\n"
        session.receive(Array(words.utf8), archive)
        session.pump(archive)
        var bytes = session.takeOutput()
        let answers = String(repeating: "OK\r\n", count: 5)
        #expect(String(decoding: bytes.prefix(20), as: UTF8.self) == answers)
        bytes.removeFirst(20)
        #expect(bytes.count == 2 * (17 + 7 + 512))
        #expect(
            Array(bytes[0..<24]) == Array("SE2D".utf8) + [0, 2, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7] + Array("XX_BASE".utf8)
        )
        #expect(bytes[(17 + 7 + 512) + 8] == 3)
        #expect(session.program == "test/1")
        session.receive(Array("INFO STREAMS XX_BASE\r\n".utf8), archive)
        let answer = session.takeOutput()
        #expect(Array(answer[0..<4]) == Array("SEJI".utf8))
        let json = try JSONReader.read(Array(answer[17...]))
        guard case .array(let stations)? = json["station"], case .array(let streams)? = stations.first?["stream"] else {
            Issue.record("no streams")
            return
        }
        #expect(stations[0]["id"] == .string("XX_BASE") && stations[0]["end_seq"] == .int(3))
        #expect(streams.map { $0["id"] } == [.string("00_H_N_Z"), .string("00_H_N_N")])
    }

    @Test func fetchesInVersion4() {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 1)
        var session = session()
        let answer = ask("SLPROTO 4.0\rSTATION XX_BASE\rDATA ALL\rENDFETCH\r", &session, archive)
        #expect(answer.hasPrefix("OK\r\nOK\r\nOK\r\nSE2D") && answer.hasSuffix("END"))
        #expect(session.isEnded)
    }

    @Test func refusesWithReasonInVersion4() {
        var session = session()
        let answer = ask("SLPROTO 4.0\rDATA\rSTATION X\rAUTH USERPASS a b\rNONSENSE\r", &session, MemoryArchive())
        let codes = answer.split(separator: "\r\n").dropFirst().map { $0.split(separator: " ")[1] }
        #expect(codes == ["UNEXPECTED", "ARGUMENTS", "UNSUPPORTED", "UNSUPPORTED"])
    }

    // MARK: Hostile clients

    @Test func theSameBytesHoweverTheyAreCut() {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 2)
        let conversations = [
            "HELLO\r\nCAPABILITIES EXTREPLY\r\nSTATION BASE XX\r\nSELECT HNZ\r\nSELECT ^\r\nDATA 1 \r\nEND\r\nINFO ID\r\nBYE\r\n",
            "SLPROTO 4.0\r\nUSERAGENT a\rSTATION XX_BASE\nSELECT *\r\nDATA ALL 2023-11-14T22:13:20Z\r\nEND\r\n",
            "\r\n\r\n DATA zz\rTIME 1\rSTATION\rSELECT 1234567\rCAT\rINFO\rINFO NOTHING\r\u{0}\r\u{ff}\r",
        ]
        for words in conversations {
            let bytes = Array(words.utf8)
            var whole = session()
            whole.receive(bytes, archive)
            let wanted = whole.takeOutput()
            for cut in [1, 2, 3, 7, 13] {
                var other = session()
                for start in stride(from: 0, to: bytes.count, by: cut) {
                    other.receive(bytes[start..<min(bytes.count, start + cut)], archive)
                }
                #expect(other.takeOutput() == wanted, "cut into pieces of \(cut)")
            }
        }
    }

    @Test func cutsWhoSendsWithoutEnd() {
        var session = session()
        session.receive([UInt8](repeating: 65, count: 1 << 20), MemoryArchive())
        #expect(session.isEnded && session.complaint == "a command of more than 512 bytes")
        #expect(session.takeOutput().isEmpty)
    }

    @Test func cutsWhoNeverReads() {
        var session = session()
        var archive = MemoryArchive()
        for index in 0..<50 { archive.add("S\(index)", packets: 1) }
        for _ in 0..<10_000 where !session.isEnded { session.receive(Array("INFO STREAMS\r".utf8), archive) }
        #expect(session.complaint == "answers are not read")
        #expect(session.output.count < 400 << 10)
        var other = self.session()
        for _ in 0..<30_000 where !other.isEnded { other.receive(Array("USERAGENT x\r".utf8), archive) }
        #expect(other.isEnded && other.complaint != nil)
    }

    @Test func holdsNoMoreThanAPumpOfPackets() {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 3000)
        var session = session()
        session.receive(Array("STATION BASE XX\rDATA 1\rEND\r".utf8), archive)
        let isMore = session.pump(archive)
        #expect(isMore)
        #expect(session.output.count < (64 << 10) + 32 * 520 + 100)
        var packets = 0
        repeat { packets += session.takeOutput().count / 520 } while session.pump(archive)
        #expect(packets + session.takeOutput().count / 520 == 3000)
    }
}

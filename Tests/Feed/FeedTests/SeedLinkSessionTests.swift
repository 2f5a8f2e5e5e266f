import Foundation
import Messages
import MiniSEED
import Settings
import Testing
import Values

@testable import Feed

extension SeedLinkSession {
    /// Takes what has come, and does all that it says.
    fileprivate mutating func receive(_ bytes: some Sequence<UInt8>, _ archive: some FeedArchive) {
        take(bytes)
        while obey(archive, most: .max) {}
    }
}

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

    @Test func whoNeverReadsIsNotAnsweredAnyMore() {
        var session = session()
        var archive = MemoryArchive()
        for index in 0..<50 { archive.add("S\(index)", packets: 1) }
        session.take(Array(repeating: "INFO STREAMS\r", count: 1000).joined().utf8)
        for _ in 0..<1000 {
            let isMore = session.obey(archive)
            #expect(isMore)
        }
        #expect(session.output.count < 100 << 10 && session.waitingBytes > 10_000)
        // When he reads, he gets what he has asked for.
        var bytes = 0
        repeat { bytes += session.takeOutput().count } while session.obey(archive)
        bytes += session.takeOutput().count
        session.take("INFO STREAMS\r".utf8)
        session.obey(archive)
        #expect(bytes == 1000 * session.takeOutput().count && bytes > 0 && session.waitingBytes == 0)
        var other = self.session()
        for _ in 0..<30_000 where !other.isEnded { other.receive(Array("USERAGENT x\r".utf8), archive) }
        #expect(other.isEnded && other.complaint != nil)
    }

    @Test func aTurnObeysSomeHundredCommandsAtMost() {
        var session = session()
        let archive = MemoryArchive()
        session.take(Array(repeating: "SELECT QQQ\r", count: 1999).joined().utf8)
        var (turns, most) = (1, 0)
        var isMore = true
        while isMore {
            isMore = session.obey(archive)
            most = max(most, session.takeOutput().count / 4)
            turns += 1
        }
        #expect(turns > 3 && most <= 512 && session.waitingBytes == 0)
    }

    @Test func oneLargeAnswerEndsATurn() {
        var archive = MemoryArchive()
        for index in 0..<500 { archive.add("S\(index)", packets: 1) }
        var session = session()
        session.take("INFO STREAMS\rINFO ID\r".utf8)
        let isMore = session.obey(archive)
        #expect(isMore && session.takeOutput().count > 100 << 10 && session.hasCommands)
        let isEven = session.obey(archive)
        #expect(!isEven && session.takeOutput().count == 1040 && !session.hasCommands)
    }

    @Test func holdsNoMoreThanAPumpOfPackets() {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 3000)
        var session = session()
        session.receive(Array("STATION BASE XX\rDATA 1\rEND\r".utf8), archive)
        let isMore = session.pump(archive)
        #expect(isMore)
        let most: Int = (64 << 10) + 32 * 520 + 100
        #expect(session.output.count < most)
        var packets = 0
        repeat { packets += session.takeOutput().count / 520 } while session.pump(archive)
        #expect(packets + session.takeOutput().count / 520 == 3000)
    }

    // MARK: A turn

    /// An archive that counts what is read of it.
    private final class CountedArchive: FeedArchive {
        var archive: MemoryArchive
        private(set) var read = 0
        init(_ archive: MemoryArchive) { self.archive = archive }
        var stations: [FeedStation] { archive.stations }
        var now: Int64 { archive.now }
        var started: Int64 { archive.started }
        var clients: [FeedClient] { archive.clients }
        func gaps(most: Int) -> [FeedGap] { archive.gaps(most: most) }
        func packets(of station: Int, from sequence: UInt64, most: Int) -> [FeedPacket] {
            let found = archive.packets(of: station, from: sequence, most: most)
            read += found.count
            return found
        }
        func sequence(of station: Int, reaching time: Int64) -> UInt64? {
            archive.sequence(of: station, reaching: time)
        }
    }

    @Test func selectorsThatMatchNothingCostNoReading() {
        var archive = MemoryArchive()
        for index in 0..<20 { archive.add("S\(index)", packets: 500) }
        let counted = CountedArchive(archive)
        var session = session()
        session.receive(Array("STATION * *\r".utf8), counted)
        for _ in 0..<2000 { session.receive(Array("SELECT QQQ\r".utf8), counted) }
        session.receive(Array("DATA 1\rEND\r".utf8), counted)
        _ = session.takeOutput()
        var turns = 1
        while session.pump(counted) { turns += 1 }
        #expect(counted.read == 0 && session.takeOutput().isEmpty)
        // 2000 selectors for each of 20 stations are many turns.
        #expect(turns >= 10)
        // What is new is not read either.
        counted.archive.append(to: 0, 500, "HNZ")
        session.pump(counted)
        #expect(counted.read == 0)
    }

    @Test func aTurnReadsSomeHundredPacketsAtMostHoweverFewAreAskedFor() {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 20_000, channels: ["HNZ", "HNN"])
        // One packet of another channel, at the end.
        archive.append(to: 0, 20_000, "HNE")
        archive.stations[0].streams.append(FeedStream(location: "00", channel: "HNE", begin: 0, end: 1))
        let counted = CountedArchive(archive)
        var session = session()
        session.receive(Array("STATION BASE XX\rSELECT HNE\rDATA 1\rEND\r".utf8), counted)
        _ = session.takeOutput()
        var (before, turns) = (0, 0)
        while session.pump(counted) {
            #expect(counted.read - before <= 544)
            before = counted.read
            turns += 1
        }
        #expect(turns >= 39 && session.takeOutput().count == 520)
    }

    @Test func limitsSelectorsAndPatterns() {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 1)
        var one = session()
        one.receive(Array("SLPROTO 4.0\rSTATION XX_BASE\r".utf8), archive)
        for _ in 0..<2000 { one.receive(Array("SELECT *\r".utf8), archive) }
        _ = one.takeOutput()
        #expect(ask("SELECT *\r", &one, archive) == "ERROR LIMIT too many selectors\r\n")
        var other = session()
        other.receive(Array("SLPROTO 4.0\r".utf8), archive)
        for _ in 0..<100 { other.receive(Array("STATION XX_B*\r".utf8), archive) }
        _ = other.takeOutput()
        #expect(ask("STATION XX_B*\r", &other, archive) == "ERROR LIMIT more than 100 patterns of stations\r\n")
        #expect(ask("STATION XX_BASE\r", &other, archive) == "OK\r\n")
    }

    // MARK: Accounts

    private func closed(_ access: SeedLinkSession.Access) -> SeedLinkSession {
        SeedLinkSession(identity: identity, access: access)
    }

    @Test func nothingIsServedWithoutAnAccount() {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 1)
        for words in ["STATION BASE XX\r", "DATA 1\r", "CAT\r", "INFO STREAMS\r", "END\r", "SELECT HNZ\r"] {
            var session = closed(.account)
            #expect(ask(words, &session, archive) == "ERROR\r\n", "\(words)")
        }
        var session = closed(.account)
        #expect(ask("HELLO\r", &session, archive).contains(" AUTH:USERPASS\r\n"))
        var plain = closed(.encryptedAccount)
        #expect(ask("HELLO\r", &plain, archive).contains("AUTH") == false)
        #expect(
            ask("SLPROTO 4.0\rAUTH USERPASS a b\r", &plain, archive)
                == "OK\r\nERROR UNSUPPORTED passwords are taken over TLS only\r\n")
        #expect(plain.login == nil)
    }

    @Test func theConversationWaitsForThePasswordHoweverItIsCut() {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 1)
        let words = Array("SLPROTO 4.0\rAUTH USERPASS ali sesame\rSTATION XX_BASE\rDATA ALL\rENDFETCH\r".utf8)
        for (isGood, wanted) in [(true, "OK\r\nOK\r\nOK\r\nOK\r\nSE2D"), (false, "OK\r\nERROR UNAUTHORIZED")] {
            for cut in [1, 7, words.count] {
                var session = closed(.account)
                for start in stride(from: 0, to: words.count, by: cut) {
                    session.receive(words[start..<min(words.count, start + cut)], archive)
                }
                #expect(session.login == .init(user: "ali", password: "sesame"))
                #expect(text(&session) == "OK\r\n")
                session.decide(isGood)
                session.obey(archive)
                session.pump(archive)
                #expect(text(&session).hasPrefix(String(wanted.dropFirst(3))), "\(cut)")
            }
        }
        var flood = closed(.account)
        flood.receive(words.prefix(40), archive)
        flood.receive([UInt8](repeating: 65, count: 100_000), archive)
        #expect(flood.complaint == "more than 16384 bytes while a password is checked")
    }

    // MARK: What is asked about the server

    private func information(_ item: String, _ archive: MemoryArchive) -> String {
        var session = session()
        session.receive(Array("INFO \(item)\r".utf8), archive)
        let bytes = session.takeOutput()
        return stride(from: 0, to: bytes.count, by: 520).map { place in
            String(decoding: bytes[(place + 64)..<(place + 520)].prefix { $0 != 0 }, as: UTF8.self)
        }.joined()
    }

    @Test func tellsItsGapsByStream() {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 2, channels: ["HNZ", "HNN"])
        archive.add("ROOF", packets: 2)
        archive.allGaps = [
            FeedGap(station: 0, location: "00", channel: "HNN", from: MemoryArchive.time(5), to: MemoryArchive.time(6)),
            FeedGap(station: 0, location: "00", channel: "HNN", from: MemoryArchive.time(1), to: MemoryArchive.time(2)),
        ]
        let xml = information("GAPS", archive)
        #expect(!xml.contains("ROOF") && !xml.contains("HNZ"))
        let first = xml.range(of: "<gap begin_time=\"2023/11/14 22:13:22.0000\" end_time=\"2023/11/14 22:13:24.0000\">")
        let second = xml.range(of: "<gap begin_time=\"2023/11/14 22:13:30.0000\"")
        #expect(first != nil && second != nil && first!.lowerBound < second!.lowerBound)
        #expect(information("CAPABILITIES", archive).contains("info:gaps"))
    }

    @Test func tellsWhoIsConnectedToWhichStation() {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 2)
        archive.add("ROOF", packets: 2)
        var one = FeedClient(
            address: "203.0.113.9", port: 51000, since: MemoryArchive.time(0), program: "slinktool", packets: 7)
        one.positions = [.init(station: 1, next: 0x1F)]
        archive.clients = [one, FeedClient(address: "203.0.113.10", since: 0)]
        let xml = information("CONNECTIONS", archive)
        let parts = xml.components(separatedBy: "<station ")
        #expect(parts.count == 2 && parts[1].contains("name=\"ROOF\""))
        #expect(
            parts.last?.contains(
                "<connection host=\"203.0.113.9\" port=\"51000\" ctime=\"2023/11/14 22:13:20.0000\" begin_seq=\"00001F\""
            ) == true)
        #expect(xml.contains("203.0.113.10"))
    }
}

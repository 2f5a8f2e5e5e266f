import Testing

@testable import Feed

struct DataLinkWriterTests {
    /// What ringserver 4.5.3 says first.
    private static let greeting = "ID DataLink 2025.120 (RingServer/4.5.3) :: DLPROTO:1.1 PACKETSIZE:512 WRITE"

    private static func frame(_ header: String, _ text: String = "") -> [UInt8] {
        Array("DL".utf8) + [UInt8(header.utf8.count)] + Array(header.utf8) + Array(text.utf8)
    }

    private static func ok(_ number: Int) -> [UInt8] { frame("OK \(number) 0") }

    /// A writer that has been greeted.
    private func greeted(_ given: [String: UInt64] = [:]) -> DataLinkWriter {
        var writer = DataLinkWriter(program: "seismote-feed:seismote:0:linux", given: given)
        #expect(writer.takeOutput() == Self.frame("ID seismote-feed:seismote:0:linux"))
        writer.receive(Self.frame(Self.greeting))
        return writer
    }

    /// Headers of the packets that are written.
    private func headers(_ writer: inout DataLinkWriter) -> [String] {
        let bytes = writer.takeOutput()
        var found: [String] = []
        var place = 0
        while place < bytes.count {
            #expect(bytes[place..<(place + 2)].elementsEqual("DL".utf8))
            let length = Int(bytes[place + 2])
            let header = String(decoding: bytes[(place + 3)..<(place + 3 + length)], as: UTF8.self)
            found.append(header)
            place += 3 + length + (Int(header.split(separator: " ").last ?? "") ?? 0)
        }
        #expect(place == bytes.count)
        return found
    }

    @Test func writesNothingBeforeItIsGreeted() {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 3)
        var writer = DataLinkWriter(program: "x", given: [:])
        _ = writer.takeOutput()
        writer.pump(archive)
        #expect(writer.takeOutput().isEmpty)
    }

    @Test func writesAllStationsInTurn() {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 2)
        archive.add("ROOF", packets: 1)
        var writer = greeted()
        writer.pump(archive)
        #expect(
            headers(&writer) == [
                "WRITE XX_BASE_00_HNZ/MSEED 1700000000000000 1700000002000000 A 512",
                "WRITE XX_BASE_00_HNZ/MSEED 1700000002000000 1700000004000000 A 512",
                "WRITE XX_ROOF_00_HNZ/MSEED 1700000000000000 1700000002000000 A 512",
            ])
        #expect(writer.given.isEmpty && writer.waits == 3)
        writer.receive(Self.ok(1) + Self.ok(2) + Self.ok(3))
        #expect(writer.given == ["XX_BASE": 2, "XX_ROOF": 1] && writer.waits == 0 && writer.records == 3)
        // Nothing comes twice on a connection.
        writer.pump(archive)
        #expect(writer.takeOutput().isEmpty)
        archive.append(to: 1, 1, "HNZ")
        writer.pump(archive)
        #expect(headers(&writer).count == 1)
    }

    @Test func goesOnBehindWhatWasAcknowledged() {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 5, first: 11)
        var writer = greeted(["XX_BASE": 13])
        writer.pump(archive)
        #expect(headers(&writer).count == 2)
        // Older ones than the ring has are gone; a ring that was begun anew is given whole.
        for given: UInt64 in [3, 900] {
            var writer = greeted(["XX_BASE": given])
            writer.pump(archive)
            #expect(headers(&writer).count == 5)
        }
    }

    @Test func hasFewOnTheirWay() {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 200)
        archive.add("ROOF", packets: 200)
        var writer = greeted()
        writer.pump(archive)
        #expect(writer.waits == DataLinkWriter.mostInFlight)
        for number in 0..<8 { writer.receive(Self.ok(number)) }
        _ = writer.takeOutput()
        writer.pump(archive)
        #expect(headers(&writer).count == 8)
    }

    @Test func answersInAnyPieces() {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 20)
        let answers = Self.frame(Self.greeting) + (1...10).flatMap { Self.ok($0) } + Self.frame("ERROR 0 4", "full")
        for cut in [1, 2, 3, 7, 50, answers.count] {
            var writer = DataLinkWriter(program: "x", given: [:])
            for start in stride(from: 0, to: answers.count, by: cut) {
                writer.receive(answers[start..<min(answers.count, start + cut)])
                writer.pump(archive)
            }
            // (Written when the greeting has come: what is acknowledged before that is a lie.)
            if cut < 50 {
                #expect(writer.given == ["XX_BASE": 10])
                #expect(writer.complaint == "the server refuses a record of XX_BASE: full")
            } else {
                #expect(writer.complaint == "the server acknowledges what was not written")
            }
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 400 Bad\r\n", "what answers there does not speak DataLink"),
        ("DL\u{5}OK 1x", "what answers there does not speak DataLink"),
        ("DL\u{b}OK 1 999999", "what answers there does not speak DataLink"),
        ("DL\u{9}OK 1 -999", "what answers there does not speak DataLink"),
        ("DL\u{0}", "what answers there does not speak DataLink"),
        ("DL\u{9}ENDSTREAM", "what answers there does not speak DataLink"),
        ("DL\u{6}OK 1 0", "the server acknowledges what was not written"),
    ])
    func isNotDeceived(_ answer: String, _ complaint: String) {
        var writer = greeted()
        writer.receive(Array(answer.utf8))
        #expect(writer.complaint == complaint)
        writer.receive(Self.ok(1))
        #expect(writer.given.isEmpty)
    }

    @Test func saysWhenItMayNotWrite() {
        var writer = DataLinkWriter(program: "x", given: [:])
        writer.receive(Self.frame("ID DataLink 2025.120 :: DLPROTO:1.1 PACKETSIZE:512"))
        #expect(writer.complaint?.contains("does not let us write") == true)
    }
}

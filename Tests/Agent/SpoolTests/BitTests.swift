import Foundation
import Messages
import TestSupport
import Testing

@testable import Spool

/// One flipped bit anywhere in a database with a row of each kind: nothing that was not hit is lost, nothing is lost in
/// silence, and nothing comes back that was not put in.
@Suite struct BitTests {
    /// Everything that can be read of a spool.
    struct Content: Equatable {
        /// By the key: whether it waits, and what it says.
        var messages: [Int64: StoredMessage] = [:]
        var waiting: Set<Int64> = []
        /// By the time of its begin.
        var ring: [Int64: [UInt8]] = [:]
        var levels: [Int64: StepLevels] = [:]
        var vibration: [Int64: VibrationBlock] = [:]
        var modes: [Int64: ModesMessage] = [:]
        var facts: [String: [UInt8]] = [:]

        init() {}

        init(_ spool: inout Spool) throws {
            for line in [SpoolLine.essential, .rest] {
                for message in try spool.next(line) {
                    messages[message.key] = message
                    waiting.insert(message.key)
                }
            }
            for event in ["e0", "e1"] {
                for message in try spool.messages(of: event, .onset ... .waveform) { messages[message.key] = message }
            }
            for segment in spool.segments(from: .min, to: .max) {
                if let records = try spool.records(of: segment) { ring[segment.start] = records }
            }
            for number in SpoolDamageTests.blocks {
                if let block = try spool.levels(number) { levels[number] = block }
            }
            for block in try spool.vibrationBlocks(SpoolDamageTests.blocks) { vibration[block.number] = block }
            for period in try spool.modes(from: newYear, to: newYear + day) { modes[period.start] = period }
            for name in try spool.facts(beginningWith: "") where !name.hasPrefix("spool.") {
                if let value = try spool.fact(name) { facts[name] = value }
            }
        }
    }

    /// A small database with each kind of row, closed in order.
    struct Sample {
        var bytes: [UInt8]
        var content: Content

        init() throws {
            let folder = try TemporaryFolder(isQuick: true)
            var spool = try folder.open()
            func payload(_ index: Int, _ count: Int) -> [UInt8] {
                Array("\(index) ".utf8) + [UInt8](repeating: UInt8(index & 0xFF), count: count)
            }
            // What is deleted again leaves free pages that still have rows.
            var gone: [Int64] = []
            for index in 0..<8 { gone.append(try spool.put(.of(.essential), payload(index, 1500))) }
            for index in 0..<4 { gone.append(try spool.put(.of(.trace), payload(index, 6000))) }
            let parts: [EventMark.Part] = [.onset, .update, .waveform, .end]
            for event in ["e0", "e1"] {
                for (index, part) in parts.enumerated() {
                    let key = try spool.put(
                        .of(.essential, event: event, part: part), payload(20 + index, part == .waveform ? 9000 : 700))
                    if event == "e0" { try spool.settle(key, index == 1 ? .refused(reason: 128) : .delivered) }
                }
            }
            for index in 0..<10 { try spool.put(.of(.essential), payload(40 + index, index == 3 ? 5000 : 900)) }
            for index in 0..<4 { try spool.put(.of(.state), payload(60 + index, 400)) }
            for index in 0..<4 { try spool.put(.of(.trace), payload(70 + index, index == 1 ? 6000 : 2600)) }
            for key in gone { try spool.settle(key, .delivered) }
            for index in [0, 1, 60, 61] {
                let (segment, records) = try LevelsTests.piece(from: index * 1000, count: 1000)
                try spool.appendSegment(segment, records)
            }
            for index in 0..<13 { try spool.storeVibration(VibrationStoreTests.record(index)) }
            for index in 0..<2 { try spool.storeModes(VibrationStoreTests.modes(index)) }
            try spool.setFact("revision", [1, 2, 3])
            try spool.setFact("reply.1", payload(80, 300))
            try spool.setLabel("quake", of: "e0")
            try spool.storeLevels()
            try spool.commit()
            try spool.close()
            bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.database)))
            var again = try folder.open()
            content = try Content(&again)
            #expect(content.messages.count == 26 && content.waiting.count == 22)
            #expect(content.ring.count == 4 && content.levels.count == 2 && content.facts.count == 3)
            #expect(content.modes.count == 2)
            #expect(content.vibration.values.map(\.records.count).sorted() == [3, 10])
        }

        /// The bits of each row's number, and which row it is.
        var bitsOfNumbers: [(row: String, bit: Int)] {
            leaves([.tableLeaf]).flatMap { page, start, cell -> [(row: String, bit: Int)] in
                var place = cell.offset
                _ = Page.number(page.bytes, &place)
                return ((start + place) * 8..<(start + cell.start) * 8).map { (name(start, cell), $0) }
            }
        }

        /// The bit of each text that makes bytes of it, and of all bytes that which makes a text of them (the last one of the
        /// kind of a column in the head of a record, sqlite.org/fileformat2.html, 2.1).
        var bitsOfKinds: [(row: String, bit: Int)] {
            leaves([.tableLeaf, .indexLeaf]).flatMap { page, start, cell -> [(row: String, bit: Int)] in
                var (place, found) = (cell.start, [(row: String, bit: Int)]())
                guard let size = Page.number(page.bytes, &place) else { return [] }
                while place < cell.start + Int(size), let kind = Page.number(page.bytes, &place) {
                    if kind >= 12 { found.append((name(start, cell), (start + place - 1) * 8)) }
                }
                return found
            }
        }

        private func name(_ start: Int, _ cell: Page.Cell) -> String {
            "row \(cell.key) of page \(start / PageFile.pageBytes + 1)"
        }

        /// Cells of the leaves of these kinds, each with its page and where that begins.
        private func leaves(_ kinds: Set<Page.Kind>) -> [(page: Page, start: Int, cell: Page.Cell)] {
            let size = PageFile.pageBytes
            return (1..<bytes.count / size).flatMap { number -> [(page: Page, start: Int, cell: Page.Cell)] in
                let page = Page(Array(bytes[number * size..<(number + 1) * size]))
                guard let kind = page.kind, kinds.contains(kind), let cells = page.cells() else { return [] }
                return cells.map { (page, number * size, $0) }
            }
        }
    }

    /// What became of a flipped bit.
    struct Outcome {
        var missing = 0
        /// Messages and facts that were not there before the file was looked through.
        var missingAtFirst = 0
        var isSaid = false
        var problem: String?
    }

    static func flip(_ sample: Sample, _ bit: Int, whileOpen: Bool) throws -> Outcome {
        let folder = try TemporaryFolder(isQuick: true)
        try FileManager.default.createDirectory(atPath: folder.path("s"), withIntermediateDirectories: true)
        var bytes = sample.bytes
        if !whileOpen { bytes[bit / 8] ^= 1 << (bit % 8) }
        try Data(bytes).write(to: URL(fileURLWithPath: folder.database))
        var outcome = Outcome()
        do {
            var spool = try folder.open()
            if whileOpen {
                try spool.database.execute("PRAGMA shrink_memory")
                let file = open(folder.database, O_WRONLY)
                var byte = bytes[bit / 8] ^ 1 << (bit % 8)
                pwrite(file, &byte, 1, off_t(bit / 8))
                close(file)
            }
            var content = Content()
            do {
                content = try Content(&spool)
                outcome.missingAtFirst =
                    sample.content.messages.keys.count { content.messages[$0] == nil }
                    + sample.content.facts.keys.count { content.facts[$0] == nil }
                try spool.checkpoint()
                try spool.check()
                content = try Content(&spool)
            } catch let error as SpoolError {
                guard error.isDamage || error.isGone else { throw error }
                try spool.recover()
                content = try Content(&spool)
            }
            let key = try spool.put(.of(.essential), "new")
            try spool.makeDurable()
            if try spool.next(.essential).last?.key != key { outcome.problem = "what was put is not there" }
            let statistics = spool.statistics
            outcome.isSaid = statistics.damaged + statistics.damagedOthers + statistics.unknownLosses > 0
            for (key, message) in content.messages where sample.content.messages[key] != message {
                outcome.problem = "a message \(key) that nobody has put"
            }
            for (start, records) in content.ring where sample.content.ring[start] != records {
                outcome.problem = "records that nobody has added"
            }
            for (name, value) in content.facts where sample.content.facts[name] != value {
                outcome.problem = "a fact that nobody has set"
            }
            for (number, block) in content.vibration where sample.content.vibration[number] != block {
                outcome.problem = "vibration that nobody has measured"
            }
            for (start, period) in content.modes where sample.content.modes[start] != period {
                outcome.problem = "modes that nobody has found"
            }
            // (What is made again of the ring has more digits than a row.)
            for (number, block) in content.levels where sample.content.levels[number]?.columns != block.columns {
                outcome.missing += 1
            }
            let lost: KeyValuePairs = [
                "messages": sample.content.messages.keys.count { content.messages[$0] == nil },
                "messages that waited": sample.content.waiting.count {
                    content.messages[$0] != nil && !content.waiting.contains($0)
                },
                "segments": sample.content.ring.keys.count { content.ring[$0] == nil },
                "hours of levels": sample.content.levels.keys.count { content.levels[$0] == nil },
                "blocks of vibration": sample.content.vibration.keys.count { content.vibration[$0] == nil },
                "periods of modes": sample.content.modes.keys.count { content.modes[$0] == nil },
                "facts": sample.content.facts.keys.count { content.facts[$0] == nil },
            ]
            outcome.missing += lost.reduce(0) { $0 + $1.value }
            let words = lost.filter { $0.value > 0 }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
            if outcome.missing > 1 { outcome.problem = "lost by one bit: \(words)" }
            if outcome.missing > 0, !outcome.isSaid { outcome.problem = "lost in silence: \(words)" }
        } catch { outcome.problem = "\(error)" }
        return outcome
    }

    /// Bits that are drawn, or `all`, or one: `page 31 byte 3135 bit 3`; and the seed.
    private static let environment = ProcessInfo.processInfo.environment
    static let drawn = environment["SEISMOTE_BITS"] ?? "500"
    static let seed = environment["SEISMOTE_BITS_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...999_999)

    @Test(arguments: [false, true]) func oneBit(whileOpen: Bool) throws {
        let sample = try Sample()
        var random = SeededGenerator(seed: Self.seed)
        let all = 0..<sample.bytes.count * 8
        let place = Self.drawn.split(separator: " ").compactMap { Int($0) }
        let bits =
            Self.drawn == "all"
            ? Array(all)
            : place.count == 3
                ? [(place[0] - 1) * 32768 + place[1] * 8 + place[2]]
                : (0..<(Int(Self.drawn) ?? 500)).map { _ in Int.random(in: all, using: &random) }
        var tally: [String: Int] = [:]
        for bit in bits {
            let outcome = try Self.flip(sample, bit, whileOpen: whileOpen)
            if let problem = outcome.problem {
                tally["wrong", default: 0] += 1
                Issue.record("page \(bit / 32768 + 1) byte \(bit / 8 % 4096) bit \(bit % 8): \(problem)")
            } else {
                tally["\(outcome.isSaid ? "said" : "silent"), \(outcome.missing) lost", default: 0] += 1
            }
        }
        print(
            "bits: \(whileOpen ? "while open" : "at rest"), \(bits.count) of \(all.count), seed \(Self.seed): \(tally)")
    }

    /// Each bit of each row's number. With some of them wrong the row stands under the number of another: it was lost
    /// without a word, and while the file is open the other one was deleted for it.
    @Test(arguments: [false, true]) func eachBitOfARowsNumber(whileOpen: Bool) throws {
        let sample = try Sample()
        for (row, bit) in sample.bitsOfNumbers {
            let outcome = try Self.flip(sample, bit, whileOpen: whileOpen)
            #expect(outcome.problem == nil, "\(row), bit \(bit % 8)")
        }
    }

    /// Each text that is stored as bytes, and the other way round: SQLite finds no bytes where a text is asked for.
    @Test(arguments: [false, true]) func eachKindOfText(whileOpen: Bool) throws {
        let sample = try Sample()
        #expect(sample.bitsOfKinds.count > 100)
        for (row, bit) in sample.bitsOfKinds {
            let outcome = try Self.flip(sample, bit, whileOpen: whileOpen)
            #expect(outcome.problem == nil && outcome.missing == 0, "\(row), byte \(bit / 8 % 4096)")
            // What opens a file sees it, before the first hour is over.
            #expect(whileOpen || outcome.missingAtFirst == 0, "\(row), byte \(bit / 8 % 4096)")
        }
    }

    /// What looks through a damaged file turns a wrong bit of a row's number back, where the row's checksum covers the number.
    @Test func aWrongBitOfARowsNumberIsTurnedBack() throws {
        let sample = try Sample()
        let folder = try TemporaryFolder(isQuick: true)
        let path = folder.path("copy")
        func keys(_ bytes: [UInt8]) throws -> [RowKind: Set<Int64>] {
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            let scan = PageScan(try #require(PageFile(path)))
            return scan.places.mapValues { Set($0.map(\.key)) }.filter { $0.key != .segment && $0.key != .levels }
        }
        let whole = try keys(sample.bytes)
        #expect(whole[.vibration] != nil && whole.values.reduce(0) { $0 + $1.count } > 30)
        for (row, bit) in sample.bitsOfNumbers {
            var bytes = sample.bytes
            bytes[bit / 8] ^= 1 << (bit % 8)
            let found = try keys(bytes)
            #expect(found == whole, "\(row), bit \(bit % 8)")
        }
    }
}

import Checking
import Feed
import Glibc
import LibFuzzer
import Messages

/// Any bytes from a client of the feed, from the network behind its web services, from a DataLink server, or as a
/// station's traces: the answers do
/// not depend on how the bytes are cut, nobody gets more than the limits allow, and a channel's samples stay in order.
private func feed(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    guard let first = bytes.first else { return 0 }
    let rest = Array(bytes.dropFirst())
    switch first & 7 {
    case 2: query(rest)
    case 3, 7: order(rest)
    case 6: give(rest, cut: Int(first >> 3) % 7 + 1)
    default: converse(rest, isVersion4: first & 1 == 1, cut: Int(first >> 2) % 7 + 1)
    }
    return 0
}

private struct Archive: FeedArchive {
    var now: Int64 = 1_767_608_430_000_000_000
    var started: Int64 = 1_767_608_430_000_000_000
    var clients = [FeedClient(address: "::1", since: 0)]
    var stations = (0..<3).map { index in
        FeedStation(
            network: "XX", code: "S\(index)", description: "<\(index)>", first: 0xFF_FFF0, last: 0x100_0010,
            streams: ["HNZ", "HNN"].map { FeedStream(location: "00", channel: $0, begin: 0, end: 33_000_000_000) })
    }

    func packets(of station: Int, from sequence: UInt64, most: Int) -> [FeedPacket] {
        guard sequence <= stations[station].last else { return [] }
        return (sequence...min(stations[station].last, sequence + UInt64(most) - 1)).map { number in
            let start = Int64(number - stations[station].first) * 1_000_000_000
            return FeedPacket(
                sequence: number, location: "00", channel: number % 2 == 0 ? "HNZ" : "HNN", start: start,
                end: start + 990_000_000, record: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 512))
        }
    }

    func gaps(most: Int) -> [FeedGap] { [] }

    func sequence(of station: Int, reaching time: Int64) -> UInt64? {
        time > 33_000_000_000 ? nil : stations[station].first + UInt64(max(0, time) / 1_000_000_000)
    }
}

private func converse(_ bytes: [UInt8], isVersion4: Bool, cut: Int) {
    let archive = Archive()
    let identity = SeedLinkSession.Identity(software: "fuzz", organisation: "fuzz")
    let beginning = Array(isVersion4 ? "SLPROTO 4.0\r\nSTATION XX_*\r\n".utf8 : "STATION * XX\r\n".utf8)
    var whole = SeedLinkSession(identity: identity)
    var pieces = whole
    var answers: [[UInt8]] = [[], []]
    obey(&whole, beginning + bytes, archive, &answers[0])
    obey(&pieces, beginning, archive, &answers[1])
    for start in stride(from: 0, to: bytes.count, by: cut) {
        obey(&pieces, bytes[start..<min(bytes.count, start + cut)], archive, &answers[1])
    }
    for (index, session) in [whole, pieces].enumerated() {
        var session = session
        var rounds = 0
        repeat {
            check(session.output.count < 600 << 10, "\(session.output.count) bytes wait")
            answers[index] += session.takeOutput()
            rounds += 1
            check(rounds < 1000, "packets without end")
        } while session.pump(archive)
        answers[index] += session.takeOutput()
    }
    check(answers[0] == answers[1], "other bytes when cut into \(cut)")
}

/// Lets a session do all that it is told, in as many turns as that takes; no account is known.
private func obey(
    _ session: inout SeedLinkSession, _ bytes: some Sequence<UInt8>, _ archive: Archive, _ answer: inout [UInt8]
) {
    session.take(bytes)
    var turns = 0
    while session.hasCommands || session.login != nil {
        session.decide(false)
        session.obey(archive)
        check(session.output.count < 600 << 10, "\(session.output.count) bytes wait")
        answer += session.takeOutput()
        turns += 1
        check(turns < 5000, "commands without end")
    }
}

/// The bytes are what a DataLink server answers.
private func give(_ bytes: [UInt8], cut: Int) {
    let archive = Archive()
    let greeting = "ID DataLink 1 WRITE"
    var whole = DataLinkWriter(program: "fuzz", given: [:])
    whole.receive(Array("DL".utf8) + [UInt8(greeting.utf8.count)] + Array(greeting.utf8))
    whole.pump(archive)
    var pieces = whole
    whole.receive(bytes)
    for start in stride(from: 0, to: bytes.count, by: cut) {
        pieces.receive(bytes[start..<min(bytes.count, start + cut)])
    }
    check(whole.given == pieces.given && whole.complaint == pieces.complaint, "other answers when cut into \(cut)")
    check(whole.records + whole.waits == DataLinkWriter.mostInFlight, "records that were not written")
    whole.pump(archive)
    check(whole.waits <= DataLinkWriter.mostInFlight && whole.output.count < 100 << 10, "too many at once")
}

private func query(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    if let query = try? FDSNQuery(query: text, allowed: ["level"]) {
        check(query.lines.count == 1, "lines")
        _ = query.lines[0].matches("XX", "BASE") || query.lines[0].matches(location: "", channel: "HNZ")
    }
    if let query = try? FDSNQuery(body: text, allowed: ["level"]) { check(query.lines.count <= 2000, "lines") }
    let codes = ChannelCodes(network: "XX", station: "BASE", location: "00", id: "base")
    for block in TraceReading(signals: ["raw", "rms"]).blocks(bytes, codes: codes, unit: 1e-6) ?? [] {
        check(!block.samples.isEmpty && block.rate > 0, "a block of nothing")
        check(block.source.network == "XX", "codes of somebody else")
    }
}

/// Each byte is a block: where it begins, how long it is.
private func order(_ bytes: [UInt8]) {
    let codes = ChannelCodes(network: "XX", station: "BASE", location: "00", id: "base")
    let source = codes.source(.acceleration, axis: 2, rate: 10)
    var flow = ChannelFlow()
    var next: Int64?
    for (index, byte) in bytes.enumerated() {
        let start = Int64(byte & 63) * 300_000_000 + Int64(index / 8) * 1_000_000_000
        let block = ChannelBlock(
            source: source, start: start, rate: 10, samples: [Int32](repeating: 1, count: Int(byte >> 6) * 7 + 1))
        let now = Double(index)
        for step in flow.take(block, now: now, patience: 5) + flow.tick(now: now, patience: 5) {
            switch step {
            case .block(let block):
                if let next { check(abs(block.start - next) <= 50_000_000, "a block at \(block.start), not \(next)") }
                next = block.end
            case .missing(let from, let to, _):
                check(from < to && from == next, "missing from \(from) to \(to), next \(next ?? 0)")
                next = to
            case .late(let block): check(block.end <= (next ?? 0) + 50_000_000, "late and new")
            case .back: check(false, "back, though there is no clock")
            }
        }
    }
}

@main enum Fuzzer {
    static func main() {
        var (count, words) = (CommandLine.argc, Optional(CommandLine.unsafeArgv))
        exit(LLVMFuzzerRunDriver(&count, &words, feed))
    }
}

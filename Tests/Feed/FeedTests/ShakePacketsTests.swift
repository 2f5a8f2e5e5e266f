import Messages
import MiniSEED
import Testing

@testable import Feed

struct ShakePacketsTests {
    private static let start: Int64 = 1_582_315_130_292_000_000

    private func block(_ channel: String, _ samples: [Int32], at index: Int = 0, rate: Double = 100) -> ChannelBlock {
        ChannelBlock(
            source: SourceIdentifier(network: "XX", station: "BASE", location: "00", channel: channel),
            start: SampleTimeline(start: Self.start, rate: rate).time(of: index), rate: rate, samples: samples)
    }

    private func texts(_ datagrams: [[UInt8]]) -> [String] { datagrams.map { String(decoding: $0, as: UTF8.self) } }

    @Test func writesWhatAShakeWrites() {
        var packets = ShakePackets()
        let samples = (0..<25).map { Int32($0 * 1000 - 12_000) }
        #expect(
            texts(packets.take(block("HNZ", samples), now: Self.start)) == [
                "{'ENZ', 1582315130.292, " + samples.map { "\($0)" }.joined(separator: ", ") + "}"
            ])
    }

    @Test(arguments: [1, 7, 25, 40, 250])
    func blocksMakeTheSameDatagrams(_ size: Int) {
        let samples = (0..<250).map { Int32($0) }
        var packets = ShakePackets()
        var found: [[UInt8]] = []
        for start in stride(from: 0, to: 250, by: size) {
            found += packets.take(
                block("HNE", Array(samples[start..<min(250, start + size)]), at: start), now: Self.start)
        }
        var whole = ShakePackets()
        #expect(found == whole.take(block("HNE", samples), now: Self.start) && found.count == 10)
        #expect(texts(found)[9].hasPrefix("{'ENE', 1582315132.542, 225, "))
    }

    @Test func beginsAnewBehindAGap() {
        var packets = ShakePackets()
        #expect(packets.take(block("HNN", [Int32](repeating: 1, count: 20)), now: Self.start).isEmpty)
        let later = texts(packets.take(block("HNN", [Int32](repeating: 2, count: 25), at: 100), now: Self.start))
        #expect(later.count == 1 && later[0].hasPrefix("{'ENN', 1582315131.292, 2, 2"))
    }

    @Test func hasAxesOfUnknownDirectionToo() {
        var packets = ShakePackets()
        #expect(
            texts(packets.take(block("HN1", [Int32](repeating: 1, count: 25)), now: Self.start))[0].hasPrefix("{'ENN'"))
        #expect(
            texts(packets.take(block("HN2", [Int32](repeating: 1, count: 25)), now: Self.start))[0].hasPrefix("{'ENE'"))
    }

    @Test func sendsOnlyAccelerationOfNow() {
        var packets = ShakePackets()
        let samples = [Int32](repeating: 1, count: 25)
        #expect(packets.take(block("HXZ", samples), now: Self.start).isEmpty)
        #expect(packets.take(block("HNZ", samples), now: Self.start + 61_000_000_000).isEmpty)
    }
}

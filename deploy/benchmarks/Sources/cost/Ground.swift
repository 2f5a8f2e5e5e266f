import Foundation
import SignalProcessing

/// Two minutes of motion at 100 Hz in blocks of 16: sensor noise of 0.3 mg with gravity on z, and in the middle a
/// quake of 20 s whose peak is about 0.1 g. Always the same numbers.
struct Ground {
    static let rate = 100.0
    static let blockLength = 16
    private(set) var blocks: [SampleBlock] = []
    let sampleCount: Int
    /// Nanoseconds from the first sample of one pass to the first of the next.
    let duration: Int64

    init() {
        sampleCount = 750 * Self.blockLength
        duration = Int64(Double(sampleCount) / Self.rate * 1e9)
        var random = UInt64(20_190_706)
        func noise() -> Double {
            var sum = -6.0
            for _ in 0..<12 {
                random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                sum += Double(random >> 11) / 9_007_199_254_740_992
            }
            return sum
        }
        for start in stride(from: 0, to: sampleCount, by: Self.blockLength) {
            var block = SampleBlock(capacity: Self.blockLength)
            block.time = Int64(Double(start) / Self.rate * 1e9)
            for index in start..<(start + Self.blockLength) {
                let t = Double(index) / Self.rate - 50
                let strength = t < 0 ? 0 : t < 2 ? 0.1 : 0.8 * exp(-(t - 2) / 4)
                let wave = { (hz: Double) in sin(2 * .pi * hz * t) * strength }
                block.append(
                    3e-3 * noise() + wave(2.1), 3e-3 * noise() + 0.8 * wave(1.7),
                    standardGravity + 3e-3 * noise() + 0.5 * wave(5.3))
            }
            blocks.append(block)
        }
    }

    /// Blocks before the quake.
    var quiet: Range<Int> { 0..<Int(49 * Self.rate) / Self.blockLength }
    /// The quake and what follows.
    var shaken: Range<Int> { quiet.upperBound..<blocks.count }

    /// Hands the blocks to the body, with times that go on from pass to pass.
    func pass(_ number: Int, _ range: Range<Int>? = nil, _ body: (borrowing SampleBlock) -> Void) {
        var block = blocks[0]
        for index in range ?? blocks.indices {
            block = blocks[index]
            block.time += Int64(number) * duration
            body(block)
        }
    }
}

import Checking
import Glibc
import LibFuzzer
import Messages
import Settings
import SignalProcessing
import Station

/// Any settings and any samples: what is no number is counted and goes no further, and the messages do not depend on
/// the blocks that the samples came in.
private func pipeline(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
    var choices = Choices(Array(UnsafeBufferPointer(start: data, count: size)))
    let rate = choices.rate()
    guard let configuration = Choices.valid(choices.configuration(rate: rate)) else { return 0 }
    let sensor = StationSensor(
        rate: rate, range: choices.flag() ? 19.6133 : nil, resolution: choices.flag() ? choices.number(1e-12, 1) : nil)
    let block = 1 + choices.below(200)
    let stretches = choices.stretches(rate: rate, count: 700)
    guard let whole = Run(configuration, sensor, stretches.blocks(of: 4096, rate: rate)) else { return 0 }
    let expected = stretches.expected
    check(whole.status.samples == expected.usable, "\(whole.status.samples) samples, \(expected.usable) were usable")
    check(whole.status.invalidSamples == expected.invalid, "\(whole.status.invalidSamples) of \(expected.invalid) not")
    check(whole.status.gaps == expected.gaps, "\(whole.status.gaps) gaps, there were \(expected.gaps)")
    let cut = Run(configuration, sensor, stretches.blocks(of: block, rate: rate))
    check(cut?.digest == whole.digest && cut?.status == whole.status, "other messages from blocks of \(block)")
    return 0
}

@main enum Pipeline {
    static func main() {
        var (count, words) = (CommandLine.argc, Optional(CommandLine.unsafeArgv))
        exit(LLVMFuzzerRunDriver(&count, &words, pipeline))
    }
}

private struct Run {
    /// FNV-1a of all topics and bytes.
    var digest: UInt64 = 0xcbf2_9ce4_8422_2325
    var status: StationStatus

    /// Nil when the settings cannot work at the rate.
    init?(_ configuration: Configuration, _ sensor: StationSensor, _ blocks: [SampleBlock]) {
        let made: StationPipeline
        do throws(StationError) {
            made = try StationPipeline(configuration: configuration, sensor: sensor, boot: "boot")
        } catch {
            check(!error.message.isEmpty, "a reason without words")
            return nil
        }
        var station = made
        station.onSeries = { chunk in
            for plane in [chunk.raw, chunk.offsetRemoved, chunk.filtered, chunk.rms] {
                for axis in 0..<3 {
                    for i in 0..<chunk.count {
                        let value = plane[axis * chunk.stride + i]
                        check(value.isFinite, "\(value) in a series")
                    }
                }
            }
        }
        var hash = digest
        let sink: PublicationSink = { header, bytes in
            if header.contentType == .json { check(!holdsNull(bytes), String(decoding: bytes, as: UTF8.self)) }
            for byte in header.topic.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        for block in blocks { station.process(block, quality: .replay, to: sink) }
        station.finish(to: sink)
        digest = hash
        status = station.status
    }
}

/// A number that is none is written as null, and nothing else in these messages is but the on-site estimate and its parts,
/// and a frequency of vibration that cannot be told.
private func holdsNull(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count >= 4 else { return false }
    let estimate = Array("\"onsite\":".utf8)
    let frequency = Array("\"frequency_hz\":null".utf8)
    var i = 0
    while i <= bytes.count - 4 {
        if bytes[i] == estimate[0], bytes[i...].starts(with: estimate) {
            i += estimate.count
            // Null, or an object without others in it.
            if i < bytes.count, bytes[i] == UInt8(ascii: "{") {
                while i < bytes.count, bytes[i] != UInt8(ascii: "}") { i += 1 }
            } else {
                i += 4
            }
        } else if bytes[i] == frequency[0], bytes[i...].starts(with: frequency) {
            i += frequency.count
        } else if bytes[i...].starts(with: "null".utf8) {
            return true
        } else {
            i += 1
        }
    }
    return false
}

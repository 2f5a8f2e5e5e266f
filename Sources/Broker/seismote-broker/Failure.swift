import Broker
import Glibc
import Threads

/// Why a command ends: exit status and words.
struct Failure: Error {
    var status: Int32 = 1
    var words: String

    init(_ words: String) { self.words = words }

    static func misuse(_ words: String) -> Failure {
        var failure = Failure("\(words)\nSee: seismote-broker --help")
        failure.status = 64
        return failure
    }
}

/// Prints a line.
func say(_ words: String) {
    print(words)
}

/// Prints a line for people, beside the output.
func note(_ words: String) {
    fflush(nil)
    let line = Array((words + "\n").utf8)
    _ = write(2, line, line.count)
}

/// Seconds since 1970.
func wallSeconds() -> Int { Int(HostClock.wall() / 1_000_000_000) }

/// Seconds of a clock that never jumps.
func steadySeconds() -> Double { Double(HostClock.monotonic()) / 1e9 }

func pause(_ seconds: Double) { usleep(UInt32(seconds * 1e6)) }

/// A random byte.
func randomByte() -> UInt8 { UInt8.random(in: 0...255) }

/// A random serial number of 120 bits, in hexadecimal digits. (Its first bit is 0, and it is never shorter.)
func newSerial() -> String {
    var bytes = (0..<15).map { _ in randomByte() }
    bytes[0] = bytes[0] & 0x3f | 0x40
    return Certificate.hex(bytes)
}

/// The place's time, as `strftime` writes it.
func local(_ seconds: Int, _ format: String) -> String {
    var (time, parts) = (time_t(seconds), tm())
    localtime_r(&time, &parts)
    var text = [CChar](repeating: 0, count: 64)
    guard strftime(&text, text.count, format, &parts) > 0 else { return "" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

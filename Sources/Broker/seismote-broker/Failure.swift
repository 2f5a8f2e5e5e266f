import Administration
import Glibc
import Values

extension Failure {
    static func misuse(_ words: String) -> Failure {
        var failure = Failure("\(words)\nSee: seismote-broker --help")
        failure.status = .usage
        return failure
    }
}

/// A random byte.
func randomByte() -> UInt8 { UInt8.random(in: 0...255) }

/// A random serial number of 120 bits, in hexadecimal digits. (Its first bit is 0, and it is never shorter.)
func newSerial() -> String {
    var bytes = (0..<15).map { _ in randomByte() }
    bytes[0] = bytes[0] & 0x3f | 0x40
    return Hexadecimal.text(bytes)
}

/// The place's time, as `strftime` writes it.
func local(_ seconds: Int, _ format: String) -> String {
    var (time, parts) = (time_t(seconds), tm())
    localtime_r(&time, &parts)
    var text = [CChar](repeating: 0, count: 64)
    guard strftime(&text, text.count, format, &parts) > 0 else { return "" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

import Messages
import Values

/// Publications as lines of JSON: `{"topic","qos","retain","payload"}`, other payloads as base64 in `payload_b64`.
final class MessageLines {
    private let file: OutputFile

    init(_ file: OutputFile) { self.file = file }

    func write(_ header: PublicationHeader, _ bytes: UnsafeRawBufferPointer) {
        file.append("{\"topic\":")
        file.append(String(decoding: Value.string(header.topic).json(), as: UTF8.self))
        file.append(",\"qos\":")
        file.append(header.qos == 0 ? "0" : "1" as StaticString)
        file.append(",\"retain\":")
        file.append(header.retain ? "true" : "false" as StaticString)
        switch header.contentType {
        case .json where !bytes.isEmpty:
            file.append(",\"payload\":")
            file.append(bytes)
        case .mseed, .cbor:
            file.append(",\"payload_b64\":\"")
            appendBase64(bytes)
            file.append("\"")
        default:
            file.append(",\"payload\":")
            file.append(String(decoding: Value.string(String(decoding: bytes, as: UTF8.self)).json(), as: UTF8.self))
        }
        file.append("}")
        file.endLine()
    }

    func check() throws(OutputError) { try file.check() }

    func close() throws(OutputError) { try file.finish() }

    /// RFC 4648, section 4.
    private func appendBase64(_ bytes: UnsafeRawBufferPointer) {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var i = 0
        while i < bytes.count {
            let left = bytes.count - i
            let group =
                UInt32(bytes[i]) << 16 | (left > 1 ? UInt32(bytes[i + 1]) << 8 : 0)
                | (left > 2 ? UInt32(bytes[i + 2]) : 0)
            file.append(alphabet[Int(group >> 18)])
            file.append(alphabet[Int(group >> 12 & 63)])
            file.append(left > 1 ? alphabet[Int(group >> 6 & 63)] : UInt8(ascii: "="))
            file.append(left > 2 ? alphabet[Int(group & 63)] : UInt8(ascii: "="))
            i += 3
        }
    }
}

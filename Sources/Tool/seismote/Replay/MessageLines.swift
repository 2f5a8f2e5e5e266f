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
            file.append(Base64.text(Array(bytes)))
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
}

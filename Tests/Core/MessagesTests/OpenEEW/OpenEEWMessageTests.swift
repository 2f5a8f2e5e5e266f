import Messages
import Testing

@Suite struct OpenEEWMessageTests {
    /// Byte by byte.
    @Test func aTextThatHoldsJSON() {
        var message = OpenEEWMessage(topic: "/traces", country: "mx", device: "a-1")
        var values = [Float](repeating: 0, count: 96)
        (values[0], values[31], values[32], values[95]) = (0.015625, -0.5, 1, 2.5)
        var sent: [String] = []
        for _ in 0..<2 {
            message.send(values, time: 1_767_608_430_144_000_000) { header, bytes in
                #expect(header.topic == "/traces" && header.qos == 0 && !header.retain && header.contentType == .json)
                sent.append(String(decoding: bytes, as: UTF8.self))
            }
        }
        func column(_ first: String, _ last: String) -> String {
            "[" + ([first] + [String](repeating: "0.0", count: 30) + [last]).joined(separator: ",") + "]"
        }
        let text =
            #""{\"country_code\":\"mx\",\"device_id\":\"a-1\",\"x\":"# + column("1.5625", "-50.0") + #",\"y\":"#
            + column("100.0", "0.0") + #",\"z\":"# + column("0.0", "250.0")
            + #",\"device_t\":1767608430.144,\"cloud_t\":1767608430.144,\"sr\":31.25}""#
        #expect(sent == [text, text])
    }
}

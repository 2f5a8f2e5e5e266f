/// Names that nothing else in the world has, such as that of a run of a program.
public enum RandomUUID {
    /// A UUID of version 4 (RFC 9562), in lower case.
    public static func text() -> String {
        var text = ""
        for i in 0..<16 {
            var byte = UInt8.random(in: 0...255)
            if i == 6 { byte = byte & 0x0F | 0x40 }
            if i == 8 { byte = byte & 0x3F | 0x80 }
            if [4, 6, 8, 10].contains(i) { text += "-" }
            text += Hexadecimal.text([byte])
        }
        return text
    }
}

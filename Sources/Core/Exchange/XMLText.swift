/// XML that is put together, with indentation.
public struct XMLText: Sendable {
    public private(set) var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    private var open: [String] = []

    public init() {}

    public mutating func begin(_ name: String, _ attributes: [(String, String)] = []) {
        tag(name, attributes)
        text += ">\n"
        open.append(name)
    }

    public mutating func end() {
        guard let name = open.popLast() else { return }
        indent()
        text += "</\(name)>\n"
    }

    public mutating func leaf(_ name: String, _ words: String, _ attributes: [(String, String)] = []) {
        tag(name, attributes)
        text += ">\(Self.escaped(words))</\(name)>\n"
    }

    public mutating func leaf(_ name: String, _ number: Double, _ attributes: [(String, String)] = []) {
        leaf(name, "\(number)", attributes)
    }

    /// StationXML's element for a remark.
    mutating func comment(_ words: String) {
        begin("Comment")
        leaf("Value", words)
        end()
    }

    private mutating func tag(_ name: String, _ attributes: [(String, String)]) {
        indent()
        text += "<\(name)"
        for (key, value) in attributes { text += " \(key)=\"\(Self.escaped(value))\"" }
    }

    private mutating func indent() { text += String(repeating: " ", count: open.count) }

    /// Text with a question mark for each character that XML 1.0 forbids.
    private static func escaped(_ words: String) -> String {
        var text = ""
        for scalar in words.unicodeScalars {
            switch scalar {
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "&": text += "&amp;"
            case "\"": text += "&quot;"
            case "\t", "\n", "\r": text += " "
            case _ where scalar.value < 0x20 || scalar.value == 0xfffe || scalar.value == 0xffff: text += "?"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

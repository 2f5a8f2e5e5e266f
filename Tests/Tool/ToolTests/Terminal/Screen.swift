/// What a terminal shows of the bytes that a program writes: as much of ECMA-48 and xterm as `seismote` uses.
struct Screen {
    private(set) var width: Int
    private(set) var height: Int
    private var cells: [[Character]]
    private var row = 0
    private var column = 0
    private(set) var isCursorShown = true
    private(set) var isOther = false
    private(set) var wraps = true
    /// Codes that this screen does not know: the program is not to use any.
    private(set) var unknown: [String] = []
    private var pending: [UInt8] = []

    init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        cells = Array(repeating: Array(repeating: " ", count: width), count: height)
    }

    /// Lines without blanks at their ends.
    var lines: [String] {
        cells.map { line in
            var text = String(line)
            while text.last == " " { text.removeLast() }
            return text
        }
    }

    var text: String { lines.joined(separator: "\n") }

    /// As xterm does: what is there stays where there is room for it.
    mutating func resize(width: Int, height: Int) {
        cells = (0..<height).map { y in
            (0..<width).map { x in y < self.height && x < self.width ? cells[y][x] : " " }
        }
        (self.width, self.height) = (width, height)
        (row, column) = (min(row, height - 1), min(column, width - 1))
    }

    mutating func write(_ bytes: [UInt8]) {
        pending += bytes
        var text = ""
        // A character may be in two pieces.
        var end = pending.count
        while end > 0, pending.count - end < 4, String(validating: pending[..<end], as: UTF8.self) == nil { end -= 1 }
        text = String(decoding: pending[..<end], as: UTF8.self)
        // So may be a code.
        var characters = Array(text.unicodeScalars)
        var i = 0
        while i < characters.count {
            if characters[i] == "\u{1b}" {
                guard let last = characters[(i + 1)...].firstIndex(where: { ("A"..."z").contains($0) && $0 != "[" })
                else { break }
                code(String(String.UnicodeScalarView(characters[(i + 1)...last])))
                i = last + 1
            } else {
                put(Character(characters[i]))
                i += 1
            }
        }
        characters.removeFirst(i)
        pending = Array(String(String.UnicodeScalarView(characters)).utf8) + pending[end...]
    }

    private mutating func put(_ character: Character) {
        switch character {
        case "\r": column = 0
        case "\n": down()
        case "\u{8}": column = max(0, column - 1)
        default:
            if column == width {
                guard wraps else {
                    cells[row][width - 1] = character
                    return
                }
                column = 0
                down()
            }
            cells[row][column] = character
            column += 1
        }
    }

    private mutating func down() {
        if row < height - 1 { return row += 1 }
        cells.removeFirst()
        cells.append(Array(repeating: " ", count: width))
    }

    private mutating func code(_ code: String) {
        let numbers = code.dropFirst().dropLast().split(separator: ";").map { Int($0) ?? 0 }
        // Where the last column was just written the cursor is still on it.
        let at = min(column, width - 1)
        switch code.last {
        case "H":
            (row, column) = (min(height, max(1, numbers.first ?? 1)) - 1, min(width, max(1, numbers.last ?? 1)) - 1)
        case "K": for x in (numbers.first == 2 ? 0 : at)..<width { cells[row][x] = " " }
        case "J":
            for x in at..<width { cells[row][x] = " " }
            for y in row + 1..<max(row + 1, height) { cells[y] = Array(repeating: " ", count: width) }
        case "m": break
        default:
            switch code {
            case "[?25h", "[?25l": isCursorShown = code.hasSuffix("h")
            case "[?7h", "[?7l": wraps = code.hasSuffix("h")
            case "[?1049h", "[?1049l":
                isOther = code.hasSuffix("h")
                cells = Array(repeating: Array(repeating: " ", count: width), count: height)
            default: unknown.append(code)
            }
        }
    }
}

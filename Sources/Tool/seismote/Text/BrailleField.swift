/// Dots drawn with braille characters, 2 × 4 in each.
struct BrailleField {
    /// Characters.
    let width: Int
    let rows: Int
    private var cells: [UInt8]

    init(width: Int, rows: Int) {
        (self.width, self.rows) = (width, rows)
        cells = [UInt8](repeating: 0, count: width * rows)
    }

    /// Sets a dot, from the left and from the top; outside it is left away.
    mutating func set(_ x: Int, _ y: Int) {
        guard (0..<4 * rows).contains(y), (0..<2 * width).contains(x) else { return }
        let bits: [[UInt8]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]
        cells[y / 4 * width + x / 2] |= bits[y % 4][x % 2]
    }

    /// The characters of a row, from the top.
    func characters(row: Int) -> [Character] {
        cells[row * width..<(row + 1) * width].map { dots in
            dots == 0 ? " " : Character(Unicode.Scalar(0x2800 + UInt32(dots)) ?? " ")
        }
    }
}

import Testing

@testable import Values

@Suite struct OutputBufferTests {
    /// All ways to put bytes in, in pieces of every length around that at which the buffer grows.
    private func fill(_ buffer: inout OutputBuffer, piece: Int) {
        let bytes = (0..<piece).map { UInt8(truncatingIfNeeded: $0 * 7 + 1) }
        buffer.append(1)
        bytes.withUnsafeBufferPointer { buffer.append($0) }
        buffer.append("static")
        bytes.withUnsafeBytes { buffer.append($0) }
        buffer.append(UInt8(ascii: ","), UInt8(ascii: "<"), "name", (UInt8(ascii: ">"), UInt8(ascii: "=")))
        buffer.append(nil, UInt8(ascii: "<"), "x", (UInt8(ascii: ">"), UInt8(ascii: "=")))
        buffer.write("tëxt")
        (1.5).write(to: &buffer)
    }

    private func wanted(piece: Int) -> [UInt8] {
        let bytes = (0..<piece).map { UInt8(truncatingIfNeeded: $0 * 7 + 1) }
        return [1] + bytes + Array("static".utf8) + bytes + Array(",<name>=<x>=tëxt1.5".utf8)
    }

    @Test func whatIsWrittenDoesNotDependOnTheRoomThatThereWas() {
        for capacity in 0..<80 {
            for piece in [0, 1, 2, 17, 63, 64, 65, 300] {
                var buffer = OutputBuffer()
                buffer.reserve(capacity)
                fill(&buffer, piece: piece)
                #expect(buffer.bytes == wanted(piece: piece), "capacity \(capacity), pieces of \(piece)")
                #expect(buffer.count == buffer.bytes.count)
                #expect(buffer.withBytes { Array($0) } == buffer.bytes)
            }
        }
    }

    @Test func anEmptiedBufferHasNothingOfWhatWasInIt() {
        var buffer = OutputBuffer()
        fill(&buffer, piece: 100)
        buffer.removeAll()
        #expect(buffer.count == 0 && buffer.bytes.isEmpty && buffer.withBytes { $0.isEmpty })
        fill(&buffer, piece: 3)
        #expect(buffer.bytes == wanted(piece: 3))
    }

    @Test func aCopyIsAValueOfItsOwn() {
        var buffer = OutputBuffer()
        fill(&buffer, piece: 5)
        var other = buffer
        other.append(9)
        buffer.removeAll()
        buffer.append(8)
        #expect(other.bytes == wanted(piece: 5) + [9])
        #expect(buffer.bytes == [8])
    }
}

import SignalProcessing

/// Makes m/s² of a chip's bytes.
struct SampleDecoder {
    /// Bytes from one sample to the next, and before x.
    let slot: Int
    let offset: Int
    let format: Chip.Format
    /// m/s² per count.
    let scale: Double
    let kind: Chip.FIFO.Kind

    init(_ chip: Chip, scale: Double) {
        format = chip.format
        slot = chip.fifo?.slot ?? 3 * chip.format.bytes
        offset = chip.fifo?.offset ?? 0
        kind = chip.fifo?.kind ?? .burst
        self.scale = scale
    }

    /// One number: two's complement, shifted to the right.
    @inline(__always)
    func count(_ bytes: UnsafePointer<UInt8>) -> Int32 {
        if format.bytes == 3 {
            let bits = UInt32(bytes[0]) << 24 | UInt32(bytes[1]) << 16 | UInt32(bytes[2]) << 8
            return Int32(bitPattern: bits) >> Int32(8 + format.shift)
        }
        let (low, high) = format.bigEndian ? (bytes[1], bytes[0]) : (bytes[0], bytes[1])
        return Int32(Int16(bitPattern: UInt16(high) << 8 | UInt16(low)) >> Int16(format.shift))
    }

    /// The three numbers of a sample, in m/s².
    @inline(__always)
    func sample(_ bytes: UnsafePointer<UInt8>) -> (Double, Double, Double) {
        let (first, step) = (bytes + offset, format.bytes)
        return (
            Double(count(first)) * scale, Double(count(first + step)) * scale, Double(count(first + 2 * step)) * scale
        )
    }

    /// Puts the first samples of a buffer into a block, which has room for them.
    func decode(_ data: UnsafePointer<UInt8>, count: Int, into block: inout SampleBlock) {
        block.withPlanes(count: count) { x, y, z, count in
            for index in 0..<count { (x[index], y[index], z[index]) = sample(data + index * slot) }
        }
    }

    /// Leaves out what is no sample. Gives the number of samples, which then stand one behind the other, and how many
    /// axes lie before the first x where the order is broken: then there is no sample to be used.
    func tidy(_ data: UnsafeMutablePointer<UInt8>, count: Int) -> (samples: Int, misplaced: Int) {
        switch kind {
        case .slots, .burst: return (count, 0)
        case .tagged(let mask, let value):
            var samples = 0
            for index in 0..<count where data[index * slot] & mask == value {
                if samples != index { (data + samples * slot).update(from: data + index * slot, count: slot) }
                samples += 1
            }
            return (samples, 0)
        case .marked:
            let bytes = format.bytes
            for axis in 0..<3 * count where (data[axis * bytes + bytes - 1] & 1 == 1) != (axis % 3 == 0) {
                var first = 0
                while first < min(3, 3 * count), data[first * bytes + bytes - 1] & 1 == 0 { first += 1 }
                return (0, first % 3)
            }
            return (count, 0)
        }
    }
}

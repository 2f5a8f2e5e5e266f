/// Memory for bytes from a bus, which stays in one place.
final class ByteBuffer {
    let bytes: UnsafeMutablePointer<UInt8>

    init(count: Int) {
        bytes = .allocate(capacity: count)
        bytes.initialize(repeating: 0, count: count)
    }

    deinit { bytes.deallocate() }
}

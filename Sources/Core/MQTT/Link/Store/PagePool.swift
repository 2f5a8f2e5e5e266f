/// Bytes of messages of any length in pages of one size, from one allocation that never grows. A page that is given
/// back is used again first, so that only as much memory is ever touched as was once needed at the same time.
struct PagePool: ~Copyable {
    static let pageBytes = 1024
    /// End of a chain.
    static let none = UInt32.max

    let pageCount: Int
    private(set) var freeCount: Int
    private let base: UnsafeMutableRawPointer
    private let next: UnsafeMutablePointer<UInt32>
    private var freeHead = PagePool.none
    /// Pages from here on were never used.
    private var fresh = 0

    init(bytes: Int) {
        pageCount = max(1, bytes / Self.pageBytes)
        freeCount = pageCount
        base = .allocate(byteCount: pageCount * Self.pageBytes, alignment: 16)
        next = .allocate(capacity: pageCount)
    }

    deinit {
        base.deallocate()
        next.deallocate()
    }

    static func pages(for bytes: Int) -> Int { (bytes + pageBytes - 1) / pageBytes }

    /// Copies bytes into a chain of pages; nil when there are not enough. No bytes need no page.
    mutating func store(_ bytes: UnsafeRawBufferPointer) -> UInt32? {
        guard Self.pages(for: bytes.count) <= freeCount else { return nil }
        var head = Self.none
        var tail = Self.none
        var offset = 0
        while offset < bytes.count {
            let page = takePage()
            let length = min(Self.pageBytes, bytes.count - offset)
            UnsafeMutableRawBufferPointer(start: base + Int(page) * Self.pageBytes, count: length)
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length]))
            if tail == Self.none { head = page } else { next[Int(tail)] = page }
            tail = page
            offset += length
        }
        return head
    }

    /// Appends the bytes of a chain to an array.
    func load(_ head: UInt32, count: Int, into output: inout [UInt8]) {
        var page = head
        var left = count
        while left > 0, page != Self.none {
            let length = min(Self.pageBytes, left)
            output.append(
                contentsOf: UnsafeRawBufferPointer(start: base + Int(page) * Self.pageBytes, count: length))
            left -= length
            page = next[Int(page)]
        }
    }

    /// Gives the pages of a chain back.
    mutating func release(_ head: UInt32) {
        var page = head
        while page != Self.none {
            let following = next[Int(page)]
            next[Int(page)] = freeHead
            freeHead = page
            freeCount += 1
            page = following
        }
    }

    private mutating func takePage() -> UInt32 {
        let page: UInt32
        if freeHead != Self.none {
            page = freeHead
            freeHead = next[Int(page)]
        } else {
            page = UInt32(fresh)
            fresh += 1
        }
        next[Int(page)] = Self.none
        freeCount -= 1
        return page
    }
}

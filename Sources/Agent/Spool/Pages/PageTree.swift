/// Which pages of a database are in use, and which are free.
struct PageTree {
    private(set) var pages: Set<Int> = []
    /// True while every page in use has been found.
    private(set) var isWhole = true

    init(_ file: PageFile, _ head: Page?) {
        guard let head else {
            isWhole = false
            return
        }
        // (The first page has the file's own head before that of the tree of the tables.)
        let count = head.short(103)
        var roots: [Int] = []
        for index in 0..<min(count, 64) {
            let offset = head.short(108 + 2 * index)
            guard let cell = head.cell(.tableLeaf, at: offset), cell.overflow == 0,
                let record = PageRecord(Array(head.bytes[cell.start..<cell.start + cell.local]), key: cell.key),
                record.count == 5, record.isInt(3)
            else { continue }
            if record.int(3) > 0 { roots.append(record.int(3)) }
        }
        isWhole = head.bytes[100] == Page.Kind.tableLeaf.rawValue && roots.count == Schema.statements.count
        var waiting = roots
        while let number = waiting.popLast() {
            guard (2...file.count).contains(number), pages.insert(number).inserted,
                let page = file.read(number).map({ Page($0) }), let kind = page.kind, let cells = page.cells()
            else {
                isWhole = false
                continue
            }
            if !kind.isLeaf {
                waiting += cells.map(\.child)
                waiting.append(page.lastChild)
            }
            for cell in cells where cell.overflow != 0 { follow(cell, file) }
        }
    }

    private mutating func follow(_ cell: Page.Cell, _ file: PageFile) {
        var (next, rest) = (cell.overflow, cell.total - cell.local)
        while rest > 0 {
            guard (2...file.count).contains(next), pages.insert(next).inserted, let page = file.read(next) else {
                isWhole = false
                return
            }
            rest -= page.count - 4
            next = Page(page).number(0)
        }
        if next != 0 { isWhole = false }
    }

    /// The list of free pages, as far as it can be read.
    static func free(_ file: PageFile, _ head: Page?) -> Set<Int> {
        var free: Set<Int> = []
        guard let head else { return free }
        var trunk = head.number(32)
        while (2...file.count).contains(trunk), free.insert(trunk).inserted,
            let page = file.read(trunk).map({ Page($0) })
        {
            let count = page.number(4)
            guard count <= page.bytes.count / 4 - 2 else { break }
            for index in 0..<count { free.insert(page.number(8 + 4 * index)) }
            trunk = page.number(0)
        }
        return free
    }
}

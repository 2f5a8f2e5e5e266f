/// Choice of the owner who gives when the ring is full: the one with the most. (Max-min fairness: nobody loses anything
/// whose use is at most an equal part of all there is.)
enum FairShare {
    /// - Parameters:
    ///   - uses: what each has, in any unit.
    ///   - total: what all may have together.
    /// - Returns: the level down to which everybody above it has to give; nil: all is within the total.
    static func level(_ uses: [Int], total: Int) -> Int? {
        guard uses.reduce(0, +) > total else { return nil }
        var (left, count) = (max(0, total), uses.count)
        for use in uses.sorted() {
            // Who has less than an equal part of what is left keeps it all.
            guard use > left / count else {
                left -= use
                count -= 1
                continue
            }
            return left / count
        }
        return nil
    }
}

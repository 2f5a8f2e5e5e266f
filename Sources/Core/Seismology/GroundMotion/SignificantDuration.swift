extension EventRecord {
    /// Significant durations of an axis in seconds: from the first sample at which 5 % of ∫a² dt is reached to the one at
    /// which 75 %, and 95 %, is (Trifunac & Brady 1975; Bommer & Martínez-Pereira 1999). The trapezoids do not run over
    /// gaps, the time in them counts. Nil where nothing moved.
    /// - Parameter axis: 0, 1, 2.
    public func significantDurations(axis: Int) -> (to75: Double, to95: Double)? {
        var total = 0.0
        forEachSquareSum(axis) { _, sum in
            total = sum
            return true
        }
        guard total > 0 else { return nil }
        var (start, to75, to95): (Int64?, Int64, Int64?) = (nil, 0, nil)
        forEachSquareSum(axis) { index, sum in
            if start == nil, sum >= 0.05 * total { start = index }
            if sum < 0.75 * total { to75 = index + 1 }
            if sum >= 0.95 * total { to95 = index }
            return to95 == nil
        }
        guard let start, let to95 else { return nil }
        return (Double(to75 - start) / rate, Double(to95 - start) / rate)
    }

    /// Hands every sample's number and the sum of the trapezoids of a² up to it (without the interval) to the body,
    /// until that says false.
    private func forEachSquareSum(_ axis: Int, _ body: (Int64, Double) -> Bool) {
        var (sum, last) = (0.0, 0.0)
        for (n, segment) in segments.enumerated() {
            let end = n + 1 < segments.count ? segments[n + 1].first : count
            var i = segment.first
            while i < end {
                let a = value(axis: axis, i)
                let square = a * a
                if i > segment.first { sum += (square + last) / 2 }
                last = square
                guard body(segment.index + Int64(i - segment.first), sum) else { return }
                i += 1
            }
        }
    }
}

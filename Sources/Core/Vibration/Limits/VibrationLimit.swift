/// One row of a table of limits, chosen by `table:line:place`, such as `din4150-3:dwellings:foundation`; without a place it
/// is the first of the line.
public struct VibrationLimit: Sendable, Equatable {
    public let table: LimitTable
    public let row: LimitTable.Row

    /// All that there are.
    public static let all: [VibrationLimit] = LimitTable.all.flatMap { table in
        table.rows.map { VibrationLimit(table: table, row: $0) }
    }

    private init(table: LimitTable, row: LimitTable.Row) { (self.table, self.row) = (table, row) }

    /// Nil: there is none of that name.
    public init?(_ name: String) {
        let found = Self.all.first {
            name == $0.name || name == "\($0.table.name):\($0.row.line)"
        }
        guard let found else { return nil }
        self = found
    }

    /// `table:line:place`.
    public var name: String { "\(table.name):\(row.line):\(row.place)" }

    /// The share of the limit that an interval reaches: the largest of the axes that it is for. Each half cycle of velocity is
    /// compared at its own frequency; where that is not known, with the strictest value.
    /// - Parameters:
    ///   - doses: of the day or night so far, m/s^1.75, of x, y and z.
    ///   - isNight: from 23 to 7 h.
    /// - Returns: nil for a table whose quantity is not there.
    public func share(of interval: VibrationInterval, doses: [Double], isNight: Bool) -> Share {
        let factor = isNight ? table.nightFactor : 1
        var largest: Share?
        func take(_ value: Double, _ axis: Int?, _ frequency: Double? = nil, _ time: Int64? = nil) {
            let limit = row.curve.value(at: frequency) * factor
            if value / limit <= largest?.ratio ?? -1 { return }
            largest = Share(value: value, limit: limit, axis: axis, frequency: frequency, time: time)
        }
        for k in interval.axes.indices where row.axes.contains(k) {
            let axis = interval.axes[k]
            switch table.measure {
            case .ppv: take(axis.ppv, k, axis.frequency, axis.ppvTime)
            case .rms: take(axis.rms, k)
            case .vdv: take(k < doses.count ? doses[k] : 0, k)
            case .pvs: break
            }
        }
        for cycle in interval.halfCycles {
            if let axis = cycle.axis {
                guard table.measure == .ppv, row.axes.contains(axis) else { continue }
            } else if table.measure != .pvs {
                continue
            }
            take(cycle.value, cycle.axis, cycle.frequency, cycle.time)
        }
        if table.measure == .pvs, largest == nil {
            // (Of an interval that an earlier version has stored.)
            let strongest = interval.axes.max { $0.ppv < $1.ppv }
            take(interval.pvs, nil, strongest?.frequency, interval.pvsTime)
        }
        return largest ?? Share(value: 0, limit: row.curve.strictest * factor, axis: nil)
    }

    public struct Share: Sendable, Equatable {
        public var value: Double
        public var limit: Double
        /// 0, 1, 2 are x, y, z; nil: of their vector.
        public var axis: Int?
        /// Frequency of the half cycle that was compared, Hz, and time of its peak, nanoseconds of UTC; nil: not known, or no peak was
        /// compared.
        public var frequency: Double?
        public var time: Int64?

        public init(value: Double, limit: Double, axis: Int?, frequency: Double? = nil, time: Int64? = nil) {
            (self.value, self.limit, self.axis) = (value, limit, axis)
            (self.frequency, self.time) = (frequency, time)
        }

        /// 1: at the limit.
        public var ratio: Double { value / limit }
    }
}

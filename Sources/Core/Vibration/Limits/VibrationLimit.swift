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

    /// What an interval is of the limit: the largest share of the axes that it is for.
    /// - Parameters:
    ///   - doses: of the day or night so far, m/s^1.75, of x, y and z.
    ///   - isNight: from 23 to 7 h.
    /// - Returns: nil for a table whose quantity is not there.
    public func share(of interval: VibrationInterval, doses: [Double], isNight: Bool) -> Share {
        var largest = Share(value: 0, limit: row.curve.strictest, axis: nil)
        func take(_ value: Double, _ limit: Double, _ axis: Int?) {
            let limit = limit * (isNight ? table.nightFactor : 1)
            if largest.axis == nil || value / limit > largest.ratio {
                largest = Share(value: value, limit: limit, axis: axis)
            }
        }
        if table.measure == .pvs {
            let strongest = interval.axes.max { $0.ppv < $1.ppv }
            take(interval.pvs, row.curve.value(at: strongest?.frequency), nil)
            return largest
        }
        for (k, axis) in interval.axes.enumerated() where row.axes.contains(k) {
            switch table.measure {
            case .ppv: take(axis.ppv, row.curve.value(at: axis.frequency), k)
            case .rms: take(axis.rms, row.curve.value(at: nil), k)
            case .vdv: take(k < doses.count ? doses[k] : 0, row.curve.value(at: nil), k)
            case .pvs: break
            }
        }
        return largest
    }

    public struct Share: Sendable, Equatable {
        public var value: Double
        public var limit: Double
        /// 0, 1, 2 are x, y, z; nil: of their vector.
        public var axis: Int?

        public init(value: Double, limit: Double, axis: Int?) {
            (self.value, self.limit, self.axis) = (value, limit, axis)
        }

        /// 1: at the limit.
        public var ratio: Double { value / limit }
    }
}

import Propagation

/// Travel times for some depths, kilometre by kilometre: a grid search asks for them a million times.
struct TravelTimeColumns: Sendable {
    /// Kilometres; below 70 km the depth hardly changes what a surface network sees.
    static let depths = [2.0, 5, 8, 11, 15, 20, 28, 40, 70, 120, 200, 300, 450, 600]
    /// Kilometres of depth that each of them stands for.
    static let thickness: [Double] = depths.indices.map { k in
        let above = k > 0 ? (depths[k] + depths[k - 1]) / 2 : 0
        let below = k + 1 < depths.count ? (depths[k] + depths[k + 1]) / 2 : TravelTimes.deepest
        return below - above
    }
    static let reach = 700
    static let iasp91 = TravelTimeColumns()

    private let times: [Double]
    /// Logarithm (base 10) of the peak in cm/s² of magnitude 5 by distance from the source.
    private let peaks: [[Double]]

    init() {
        peaks = Phase.allCases.map { phase in
            (0...1000).map { MagnitudeRelation.logPeak(magnitude: 5, distance: Double($0), phase: phase) }
        }
        var times: [Double] = []
        for phase in Phase.allCases {
            for depth in Self.depths {
                for km in 0...Self.reach {
                    times.append(TravelTimes.iasp91.seconds(phase, distance: Double(km), depth: depth))
                }
            }
        }
        self.times = times
    }

    /// Where the times of a depth begin.
    func column(_ phase: Phase, _ depth: Int) -> Int {
        ((phase == .p ? 0 : Self.depths.count) + depth) * (Self.reach + 1)
    }

    /// - Parameter distance: km; beyond the columns it is taken as their end.
    func seconds(_ column: Int, _ distance: Double) -> Double {
        let x = min(distance, Double(Self.reach) - 1e-9)
        let km = Int(x)
        let (a, b) = (times[column + km], times[column + km + 1])
        return a + (b - a) * (x - Double(km))
    }

    /// - Parameter distance: from the source, km.
    func logPeak(_ phase: Phase, _ distance: Double) -> Double {
        let x = min(distance, 999.999)
        let km = Int(x)
        let table = phase == .p ? 0 : 1
        let (a, b) = (peaks[table][km], peaks[table][km + 1])
        return a + (b - a) * (x - Double(km))
    }
}

import Testing

@testable import Vibration

@Suite struct LimitTests {
    private func limit(_ name: String) throws -> VibrationLimit { try #require(VibrationLimit(name)) }

    /// Values as the tables print them.
    @Test(arguments: [
        ("din4150-3:commercial:foundation", 5.0, 20.0), ("din4150-3:commercial:foundation", 50, 40),
        ("din4150-3:commercial:foundation", 100, 50), ("din4150-3:dwellings:foundation", 9, 5),
        ("din4150-3:dwellings:foundation", 30, 10), ("din4150-3:dwellings:foundation", 75, 17.5),
        ("din4150-3:sensitive:foundation", 50, 8), ("din4150-3:sensitive:foundation", 100, 10),
        ("din4150-3:dwellings:top-floor", 500, 15), ("din4150-3:sensitive:ceiling", 3, 20),
        ("din4150-3-long:commercial:top-floor", 3, 10), ("din4150-3-long:dwellings:top-floor", 3, 5),
        ("din4150-3-long:sensitive:top-floor", 3, 2.5), ("din4150-3-long:dwellings:ceiling", 3, 10),
        ("bs7385-2:framed", 4.1, 50), ("bs7385-2:dwellings", 15, 20), ("bs7385-2:dwellings", 40, 50),
        ("bs7385-2:dwellings", 9.5, 17.5), ("bs7385-2:dwellings", 2, 7.54), ("usbm-ri8507:drywall", 2, 9.576),
        ("usbm-ri8507:drywall", 10, 19.05), ("usbm-ri8507:plaster", 5, 12.7), ("usbm-ri8507:plaster", 20, 25.53),
        ("usbm-ri8507:drywall", 60, 50.8), ("sn640312a:class3:rare", 20, 15), ("sn640312a:class3:frequent", 45, 8),
        ("sn640312a:class3:permanent", 100, 6), ("sn640312a:class2:rare", 100, 60),
        ("sn640312a:class1:permanent", 20, 9), ("bs6472-1:dwellings:possible", 1, 0.4),
        ("iso20816-3:group1-rigid", 1, 4.5), ("iso20816-3:group1-flexible:cd", 1, 11),
        ("iso20816-3:group2-rigid:ab", 1, 1.4),
    ]) func limits(_ name: String, _ frequency: Double, _ value: Double) throws {
        let found = try limit(name).row.curve.value(at: frequency)
        #expect(abs(found / value - 1) < 1e-3, "\(found)")
    }

    /// A vibration of 150 Hz and 5.9 mm/s was `exceeded` at 5 mm/s: the strictest value counted above the table's last
    /// frequency, where DIN 4150-3 allows that of 100 Hz.
    @Test(arguments: [
        ("din4150-3:commercial:foundation", 20.0, 50.0), ("din4150-3:dwellings:foundation", 5, 20),
        ("din4150-3:sensitive:foundation", 3, 10), ("din4150-3:dwellings:top-floor", 15, 15),
        ("din4150-3-long:dwellings:top-floor", 5, 5), ("usbm-ri8507:drywall", 2.394, 50.8),
        ("usbm-ri8507:plaster", 2.394, 50.8), ("bs7385-2:framed", 1.885, 50), ("bs7385-2:dwellings", 1.885, 50),
        ("sn640312a:class3:rare", 15, 30), ("sn640312a:class1:permanent", 9, 18), ("iso20816-3:group1-rigid", 4.5, 4.5),
    ]) func tablesGoOnAtTheirEnds(_ name: String, _ atHalfAHertz: Double, _ far: Double) throws {
        let curve = try limit(name).row.curve
        #expect(abs(curve.value(at: 0.5) / atHalfAHertz - 1) < 1e-3, "\(curve.value(at: 0.5))")
        for frequency in [100.001, 150, 250.001, 400, 5000] where frequency > curve.parts.last?.to ?? 0 {
            #expect(curve.value(at: frequency) == far, "\(frequency) Hz: \(curve.value(at: frequency))")
        }
        // A limit that an interval without motion is compared with is no zero.
        #expect(curve.value(at: 0) > 0 && curve.value(at: .infinity) == far)
    }

    @Test func eachTableSaysItsEnds() {
        #expect(LimitTable.all.allSatisfy { !$0.ends.isEmpty && !$0.edition.isEmpty })
    }

    /// Curves have no hole, and where the frequency is not known the strictest value counts.
    @Test(arguments: VibrationLimit.all) func withoutAFrequencyTheStrictestCounts(_ limit: VibrationLimit) {
        let curve = limit.row.curve
        #expect(curve.value(at: nil) == curve.strictest)
        for (before, after) in zip(curve.parts, curve.parts.dropFirst()) { #expect(before.to == after.from) }
        for part in curve.parts {
            for share in [0, 0.5, 1.0] {
                #expect(curve.strictest <= curve.value(at: part.from + share * (part.to - part.from)) * (1 + 1e-12))
            }
        }
        #expect(VibrationLimit(limit.name)?.name == limit.name)
    }

    @Test func shareIsThatOfTheWorstAxis() throws {
        var interval = VibrationInterval()
        (interval.axes[0].ppv, interval.axes[0].frequency) = (4, 30)
        (interval.axes[1].ppv, interval.axes[1].frequency) = (3, 6)
        (interval.axes[2].ppv, interval.axes[2].frequency) = (2, nil)
        let foundation = try limit("din4150-3:dwellings:foundation")
        // 4/10, 3/5, 2/5.
        let share = foundation.share(of: interval, doses: [], isNight: false)
        #expect(share.ratio == 0.6 && share.axis == 1 && share.limit == 5)
        // The vertical does not count upstairs, nor the horizontals on the ceiling.
        let top = try limit("din4150-3:dwellings:top-floor").share(of: interval, doses: [], isNight: false)
        #expect(top.axis == 0 && top.limit == 15)
        let ceiling = try limit("din4150-3:dwellings:ceiling").share(of: interval, doses: [], isNight: false)
        #expect(ceiling.axis == 2 && ceiling.ratio == 0.1)
        interval.pvs = 5
        let vector = try limit("sn640312a:class3:rare").share(of: interval, doses: [], isNight: false)
        // With the frequency of the largest axis, 30 Hz.
        #expect(vector.axis == nil && vector.ratio == 5.0 / 15)
    }

    @Test func nightHasHalfTheDose() throws {
        let dose = try limit("bs6472-1:dwellings:low")
        let interval = VibrationInterval()
        #expect(dose.share(of: interval, doses: [0.05, 0.02, 0.1], isNight: false).ratio == 0.5)
        #expect(dose.share(of: interval, doses: [0.05, 0.02, 0.1], isNight: true).ratio == 1)
    }

    @Test func daysAndNightsOfDoses() {
        var period = VibrationPeriod(offset: 2)
        var interval = VibrationInterval()
        for k in 0..<3 { interval.axes[k].doseFourth = Double(k + 1) }
        func at(_ hour: Double) -> Int64 { Int64((19_000 * 24 + hour - 2) * 3_600e9) }
        for hour in [7.0, 12, 22.9] {
            interval.start = at(hour)
            period.add(interval)
            #expect(!period.isNight)
        }
        #expect(abs(period.doses[2] - 1.7320508) < 1e-6)
        for hour in [23.0, 24.5, 30.9] {
            interval.start = at(hour)
            period.add(interval)
            #expect(period.isNight)
        }
        #expect(abs(period.doses[0] - 1.3160740) < 1e-6)
        interval.start = at(31)
        period.add(interval)
        #expect(!period.isNight && period.doses[0] == 1)
        // A day later at the same hours: another period, though there was no night.
        interval.start = at(31 + 24)
        period.add(interval)
        #expect(period.doses[0] == 1)
    }

    @Test func floorIsTheQuietestOfTwoDays() {
        var floor = NoiseFloor()
        func add(day: Int64, _ ppv: Double, seconds: Double = 60) {
            var interval = VibrationInterval()
            (interval.start, interval.length, interval.seconds) = (day * 86_400_000_000_000, 60, seconds)
            interval.axes[1].ppv = ppv
            floor.add(interval)
        }
        for k in 0..<4 { add(day: 100, Double(8 - k)) }
        add(day: 100, 0.1, seconds: 30)
        #expect(floor.values(axis: 1) == nil)
        add(day: 100, 9)
        #expect(floor.values(axis: 1)?.ppv == 5)
        add(day: 101, 7)
        #expect(floor.values(axis: 1)?.ppv == 5)
        for _ in 0..<4 { add(day: 101, 9) }
        add(day: 102, 8)
        #expect(floor.values(axis: 1)?.ppv == 7)
        // What is older says nothing of today, also where there was nothing since.
        add(day: 105, 8)
        #expect(floor.values(axis: 1) == nil)
    }
}

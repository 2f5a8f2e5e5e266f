import Foundation
import Propagation
import Testing

@testable import Association

/// The relation of Cua and Heaton (2009), with the coefficients of their table for horizontal acceleration on soil.
@Suite struct MagnitudeTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var phase: Phase
        var magnitude: Double
        /// From the source, km.
        var distance: Double
        /// Expected peak, m/s².
        var peak: Double

        init(_ phase: Phase, _ magnitude: Double, _ distance: Double, _ peak: Double) {
            (self.phase, self.magnitude, self.distance, self.peak) = (phase, magnitude, distance, peak)
        }

        var testDescription: String { "\(phase.rawValue), M \(magnitude), \(distance) km" }
    }

    /// Made with the published equation and coefficients by another program (Python), in cm/s², and written in m/s².
    static let rows = [
        Row(.p, 3.0, 10.0, 0.007429),
        Row(.p, 4, 20, 0.015394),
        Row(.p, 5, 10, 0.153736),
        Row(.p, 5, 30, 0.041723),
        Row(.p, 5, 100, 0.005898),
        Row(.p, 6, 20, 0.226763),
        Row(.p, 6, 150, 0.011498),
        Row(.p, 7, 10, 0.658643),
        Row(.p, 7, 60, 0.189023),
        Row(.s, 3, 10, 0.04317),
        Row(.s, 4, 20, 0.075597),
        Row(.s, 5, 10, 0.826609),
        Row(.s, 5, 30, 0.186126),
        Row(.s, 5, 100, 0.024202),
        Row(.s, 6, 20, 1.090843),
        Row(.s, 6, 150, 0.047633),
        Row(.s, 7, 10, 3.568812),
        Row(.s, 7, 60, 0.830924),
    ]

    @Test(arguments: rows) func thePeakIsThePublishedOne(row: Row) {
        let log = MagnitudeRelation.logPeak(magnitude: row.magnitude, distance: row.distance, phase: row.phase)
        #expect(abs(pow(10, log) / 100 / row.peak - 1) < 1e-3, "\(pow(10, log) / 100) m/s²")
    }

    /// The magnitude is read from a peak in m/s², as messages have it.
    @Test(arguments: rows) func theMagnitudeIsThatOfThePeak(row: Row) {
        let found = MagnitudeRelation.magnitude(peak: row.peak, distance: row.distance, phase: row.phase)
        #expect(abs(found - row.magnitude) < 0.002, "\(found)")
    }

    /// The median of the stations; too few of them, or stations too far away, say nothing.
    @Test func theEstimateIsTheMedianOfAtLeastFour() throws {
        let peaks = Self.rows.filter { $0.phase == .s && $0.distance <= 100 }
            .map { (peak: $0.peak, distance: $0.distance, phase: $0.phase) }
        // 3, 4, 5, 5, 5, 6, 7, 7.
        let all = try #require(MagnitudeRelation.estimate(peaks))
        #expect(abs(all.value - 5) < 0.01)
        #expect(MagnitudeRelation.estimate(Array(peaks.prefix(3))) == nil)
        #expect(MagnitudeRelation.estimate(peaks.prefix(3) + [(0, 10, .s), (0.1, 301, .s)]) == nil)
        // Four that agree: the relation's own scatter is left, and what earthquakes differ by.
        let four = try #require(MagnitudeRelation.estimate(Array(repeating: peaks[2], count: 4)))
        let total = 0.3261 / 0.709
        let square = (total * total - 0.12 * 0.12) * 3 / 6
        #expect(abs(four.sigma - (0.12 * 0.12 + square * 1.57 / 4).squareRoot()) < 1e-6)
        // Sixteen know more than four, but never less than what earthquakes differ by.
        let many = try #require(MagnitudeRelation.estimate(Array(repeating: peaks[2], count: 16)))
        #expect(many.sigma < four.sigma && many.sigma > 0.12)
    }
}

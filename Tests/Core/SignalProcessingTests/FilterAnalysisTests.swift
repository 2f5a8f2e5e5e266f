import Foundation
import Testing

@testable import SignalProcessing

@Suite struct FilterAnalysisTests {
    /// Largest pole radii that SciPy 1.17.1 gives (reference/filters.json, `max_pole_radius`), and the number of poles.
    @Test(
        arguments: [
            (FilterBand.lowpass, 1, [5.0], 60.0, 0.5773502691896257, 1),
            (.lowpass, 2, [5], 60, 0.6910804946404704, 2),
            (.bandpass, 3, [0.5, 10], 100, 0.9852643011197839, 6),
        ] as [(FilterBand, Int, [Double], Double, Double, Int)])
    func polesAreThoseOfAnIndependentDesign(
        band: FilterBand, order: Int, corners: [Double], rate: Double, radius: Double, count: Int
    ) throws {
        let poles = try FilterSpecification.butterworth(.init(band: band, corners: corners, order: order))
            .design(rate: rate).poles(rate: rate)
        #expect(poles.count == count)
        #expect(abs((poles.map { hypot($0.re, $0.im) }.max() ?? 0) - radius) < 1e-12)
    }

    /// Far below the rate the poles are the analogue ones: all at the corner, with the qualities of tables.
    @Test func frequencyAndQualityAreThoseOfTheAnalogueFilter() throws {
        let filter = FilterSpecification.butterworth(.init(band: .lowpass, corners: [0.05], order: 5))
        let poles = try filter.design(rate: 1000).poles(rate: 1000)
        #expect(poles.count == 5)
        for pole in poles { #expect(abs(pole.frequency - 0.05) < 1e-8) }
        for (found, known) in zip(poles.map(\.quality).sorted(), [0.5, 0.618034, 0.618034, 1.618034, 1.618034]) {
            #expect(abs(found - known) < 1e-6)
        }
    }

    @Test func groupDelayIsTheSlopeOfThePhase() throws {
        let filter = FilterSpecification.chain([
            .butterworth(.init(band: .bandpass, corners: [0.5, 10], order: 3)), .shake(.lp5Simple),
        ])
        let design = try filter.design(rate: 100)
        for frequency in [0.1, 0.5, 1, 4, 12, 30, 49] {
            let step = 1e-4 * frequency
            let before = design.response(at: frequency - step, rate: 100)
            let after = design.response(at: frequency + step, rate: 100)
            var turn = after.phase - before.phase
            turn -= (turn / (2 * Double.pi)).rounded() * 2 * Double.pi
            let slope = -turn / (2 * Double.pi * 2 * step)
            let found = try #require(design.response(at: frequency, rate: 100).groupDelay)
            #expect(abs(found - slope) < 1e-5 * abs(slope), "\(frequency) Hz: \(found), not \(slope)")
        }
        let ends = [design.response(at: 0, rate: 100), design.response(at: 50, rate: 100)]
        #expect(ends.allSatisfy { $0.gain == 0 && $0.groupDelay == nil })
    }

    /// Apple's "5 Hz" at 60 Hz is 3 dB down at 0.765 Hz (reference/filters.json, `true_minus3db_hz`); in motion it is
    /// that filter, at rest one of a third of the constant.
    @Test func anAdaptiveFilterIsTwoFilters() throws {
        let adaptive = try FilterSpecification.simple(.init(band: .lowpass, corner: 5, adaptive: true)).design(rate: 60)
        #expect(adaptive.isAdaptive && adaptive.poles(rate: 60).isEmpty)
        let moving = adaptive.held(motion: 1)
        #expect(abs(moving.response(at: 0.7647516258387528, rate: 60).gain - 0.5.squareRoot()) < 1e-4)
        let resting = adaptive.held(motion: 0).poles(rate: 60)
        #expect(resting.count == 1 && abs(resting[0].re - (1 - 0.07692307692307691 / 3)) < 1e-14)
    }
}

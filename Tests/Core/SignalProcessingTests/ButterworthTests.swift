import Foundation
import TestSupport
import Testing

@testable import SignalProcessing

/// 630 designs of SciPy, five or more frequencies each, in `Vectors/filters/butterworth.csv`.
@Test func butterworthAgreesWithIndependentDesigns() throws {
    let path = ProcessInfo.processInfo.environment["SEISMOTE_BUTTERWORTH_CSV"]
    let data =
        try path.map { try Data(contentsOf: URL(fileURLWithPath: $0)) } ?? Vectors.data("filters/butterworth.csv")
    var worst = 0.0
    var designs = 0
    for line in String(decoding: data, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
        let fields = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let band = try #require(FilterBand(rawValue: fields[0]))
        let rate = try #require(Double(fields[2]))
        let corners = fields[3...4].compactMap(Double.init)
        let specification = ButterworthSpecification(
            band: band, corners: corners, order: try #require(Int(fields[1])))
        let sections = try specification.sections(rate: rate)
        let numbers = try fields[5...].map { try #require(Double($0)) }
        for i in stride(from: 0, to: numbers.count, by: 3) {
            var h = (re: 1.0, im: 0.0)
            for section in sections {
                let r = section.response(at: numbers[i], rate: rate)
                h = (h.re * r.re - h.im * r.im, h.re * r.im + h.im * r.re)
            }
            let (re, im) = (numbers[i + 1] * cos(numbers[i + 2]), numbers[i + 1] * sin(numbers[i + 2]))
            let error = hypot(h.re - re, h.im - im)
            worst = max(worst, error)
            #expect(error <= 1e-9, "\(line.prefix(40)) at \(numbers[i]) Hz: \(error)")
        }
        designs += 1
    }
    #expect(designs == 630)
    print("worst complex difference of \(designs) Butterworth designs: \(worst)")
}

@Test func butterworthRefusesWhatCannotBeBuilt() {
    func failure(_ band: FilterBand, _ corners: [Double], _ order: Int, rate: Double = 100) -> FilterDesignError? {
        do throws(FilterDesignError) {
            _ = try ButterworthSpecification(band: band, corners: corners, order: order).sections(rate: rate)
            return nil
        } catch { return error }
    }
    #expect(failure(.lowpass, [50], 2) == .corner(50, rate: 100))
    #expect(failure(.lowpass, [0], 2) == .corner(0, rate: 100))
    #expect(failure(.highpass, [-1], 2) == .corner(-1, rate: 100))
    #expect(failure(.lowpass, [5], 11) == .order(11))
    #expect(failure(.lowpass, [5], 0) == .order(0))
    #expect(failure(.bandpass, [5], 2) == .cornerCount(expected: 2, got: 1))
    #expect(failure(.bandpass, [5, 5], 2) == .cornerOrder(5, 5))
    #expect(failure(.lowpass, [5], 2, rate: 0) == .rate(0))
    #expect(failure(.lowpass, [5], 2, rate: 1e74) == .rate(1e74))
    // Found by the fuzzer: squares of corners that vanish beside 1, filters that never settle.
    #expect(failure(.lowpass, [1e-11], 2) == .corner(1e-11, rate: 100))
    #expect(failure(.bandpass, [5, 5.000000000000001], 2) == .cornerOrder(5, 5.000000000000001))
    for rate in [0, -1, Double.nan, .infinity] {
        #expect(throws: FilterDesignError.self) { try FilterSpecification.none.design(rate: rate) }
    }
    #expect(failure(.lowpass, [49.999], 10) == nil)
}

@Test func everyDesignIsStableAtTheExtremes() throws {
    for band in FilterBand.allCases {
        for order in 1...10 {
            let corners = band == .lowpass || band == .highpass ? [0.05] : [0.05, 0.1]
            let sections = try ButterworthSpecification(band: band, corners: corners, order: order).sections(rate: 1000)
            for section in sections { #expect(section.decayPerSample > 0) }
        }
    }
}

import Foundation
import Testing

@testable import Seismology

@Suite struct PolarizationTests {
    private func moments(_ samples: [(Double, Double, Double)]) -> MotionMoments {
        var m = MotionMoments()
        for (x, y, z) in samples { m.add(x, y, z) }
        return m
    }

    /// Motion along a direction, with an offset that the covariance must not see.
    @Test(arguments: [(37.0, 25.0), (250, 110), (0, 90), (359.5, 179), (90, 45)])
    func motionOnALineGivesThatLine(azimuth: Double, incidence: Double) throws {
        let (a, i) = (azimuth * .pi / 180, incidence * .pi / 180)
        let (x, y, z) = (sin(a) * sin(i), cos(a) * sin(i), cos(i))
        let wave = (0..<200).map { k in sin(Double(k) * 0.3) * 1e-3 }
        let m = moments(wave.map { (x * $0 + 0.01, y * $0 - 0.02, z * $0) })
        let p = try #require(m.polarization(toward: (x, y, z)))
        #expect(abs(p.azimuth - azimuth) < 1e-6 && abs(p.incidence - incidence) < 1e-6)
        #expect(p.rectilinearity > 1 - 1e-9 && p.rectilinearity <= 1)
        let reverse = try #require(m.polarization(toward: (-x, -y, -z)))
        #expect(abs(reverse.incidence - (180 - incidence)) < 1e-6)
    }

    @Test func aCircleIsHalfRectilinearAndAllDirectionsAlikeNotAtAll() throws {
        let points = (0..<360).map { (degree: Int) -> (Double, Double, Double) in
            let angle = Double(degree) * .pi / 180
            return (sin(angle), 0, cos(angle))
        }
        let circle = moments(points)
        #expect(abs(try #require(circle.polarization(toward: (1, 0, 0))).rectilinearity - 0.5) < 1e-12)
        let alike = moments([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)])
        #expect(abs(try #require(alike.polarization(toward: (1, 0, 0))).rectilinearity) < 1e-12)
    }

    @Test func restHasNone() {
        #expect(moments([(0, 0, 9), (0, 0, 9), (0, 0, 9), (0, 0, 9)]).polarization(toward: (0, 0, 1)) == nil)
        #expect(moments([(1, 0, 0), (-1, 0, 0)]).polarization(toward: (1, 0, 0)) == nil)
    }

    /// Q diag(λ) Qᵀ for a known rotation, over 300 decades, with equal eigenvalues too.
    @Test(arguments: [(3.0, 2.0, 1.0), (1, 1, 1e-9), (1, 0, 0), (5, 5, 5), (1, 1e-16, -1e-16)], [1e-150, 1, 1e150])
    func eigenvaluesOfARotatedDiagonal(values: (Double, Double, Double), scale: Double) {
        let (a, b) = (0.7, -1.1)
        let u = SIMD3(cos(a), sin(a), 0)
        let v = SIMD3(-sin(a) * cos(b), cos(a) * cos(b), sin(b))
        let w = SIMD3(sin(a) * sin(b), -cos(a) * sin(b), cos(b))
        func entry(_ i: Int, _ j: Int) -> Double {
            scale * (values.0 * u[i] * u[j] + values.1 * v[i] * v[j] + values.2 * w[i] * w[j])
        }
        let matrix = SymmetricMatrix(
            xx: entry(0, 0), yy: entry(1, 1), zz: entry(2, 2), xy: entry(0, 1), xz: entry(0, 2), yz: entry(1, 2))
        let eigen = matrix.eigen
        let limit = 1e-14 * scale * values.0
        #expect(abs(eigen.first - scale * values.0) < limit)
        #expect(abs(eigen.second - scale * values.1) < limit)
        #expect(abs(eigen.third - scale * values.2) < limit)
        if values.0 > values.1 { #expect(abs(abs((eigen.axis * u).sum()) - 1) < 1e-14) }
    }

    @Test func aWindowOfTheRecordEndsAtItsGap() throws {
        var record = EventRecord(rate: 100, capacity: 1000)
        for i in 0..<400 {
            let late: Int64 = i >= 150 ? 1000 : 0
            let a = sin(Double(i))
            if i < 150 {
                record.append(a, 0, 0, time: Int64(i), index: Int64(i))
            } else {
                record.append(0, a, 0, time: Int64(i), index: Int64(i) + late)
            }
        }
        let before = try #require(record.polarization(from: 100, seconds: 2))
        #expect(before.rectilinearity == 1 && before.azimuth.truncatingRemainder(dividingBy: 180) == 90)
        let after = try #require(record.polarization(from: 150, seconds: 2))
        #expect(after.azimuth.truncatingRemainder(dividingBy: 180) == 0 && after.incidence == 90)
        #expect(record.polarization(from: 149, seconds: 2) == nil)
    }
}

import TestSupport
import Testing

@testable import Association

@Suite struct PointCountTests {
    /// As many as are found by looking at each.
    @Test(arguments: 0..<20) func itCountsWhatIsNearer(_ seed: UInt64) {
        var random = SplitMix64(state: seed)
        let points = (0..<Int.random(in: 0...400, using: &random)).map { _ in
            SIMD2(Double.random(in: -300...300, using: &random), Double.random(in: -300...300, using: &random))
        }
        let count = PointCount(points)
        for _ in 0..<50 {
            let middle = SIMD2(
                Double.random(in: -400...400, using: &random), Double.random(in: -400...400, using: &random))
            let radius = Double.random(in: 0...500, using: &random)
            let near = points.count { point in
                let way = point - middle
                return (way * way).sum() < radius * radius
            }
            #expect(count.within(radius, of: middle) == near)
        }
    }
}

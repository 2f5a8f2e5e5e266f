import Foundation
import TestSupport
import Testing

@testable import Seismology

@Suite struct IntensityTests {
    /// Tables computed independently, with points on both sides of every break point.
    @Test func agreesWithTheReferenceTables() throws {
        var rows = 0
        for line in String(decoding: try Vectors.data("intensity/gmice.csv"), as: UTF8.self).split(separator: "\n")
        where !line.hasPrefix("#") {
            let fields = line.split(separator: ",", omittingEmptySubsequences: false)
            let numbers = fields.map { Double($0) ?? .nan }
            var pairs: [(Double, Double)] = []
            switch fields[0] {
            case "pga":
                pairs = [
                    (GutenbergRichter.mmi(pga: numbers[1]), numbers[3]), (Wald1999.mmi(pga: numbers[1]), numbers[4]),
                    (Worden2012.mmi(pga: numbers[1]), numbers[5]),
                ]
            case "pgv":
                pairs = [(Wald1999.mmi(pgv: numbers[2]), numbers[3]), (Worden2012.mmi(pgv: numbers[2]), numbers[4])]
            default: pairs = [(Wald1999.mmi(pga: numbers[1], pgv: numbers[2]), numbers[3])]
            }
            for (got, expected) in pairs { #expect(abs(got - expected) < 1e-9, "\(line): \(got)") }
            rows += 1
        }
        #expect(rows > 300)
    }

    @Test func nothingMovesIsTheLowestStep() {
        for relation in IntensityRelation.allCases {
            guard let estimate = relation.estimate(pga: 0, pgv: 0) else { continue }
            #expect(relation.scale.step(estimate.value) == 0)
            #expect(estimate.value == (relation.scale.roman(1) != nil ? 1 : 0))
        }
    }

    /// Gutenberg and Richter's own steps: 10 gal is IV to V, 1000 gal X to XI.
    @Test func gutenbergRichterAtItsRoundNumbers() {
        #expect(abs(GutenbergRichter.mmi(pga: 0.1) - 4.5) < 1e-12)
        #expect(abs(GutenbergRichter.mmi(pga: 10) - 10.5) < 1e-12)
        #expect(GutenbergRichter.mmi(pga: 1e4) == 12)
    }

    @Test func romanNumeralsRoundHalvesUpAndStayInTheScale() {
        let scale = IntensityScale.mmi
        #expect(scale.roman(3.49) == "III" && scale.roman(3.5) == "IV")
        #expect(scale.roman(-4) == "I" && scale.roman(40) == "XII")
        #expect(scale.roman(.nan) == "I" && scale.roman(.infinity) == "XII")
        #expect(scale.color(1) == "#ffffff" && scale.color(7.2) == "#ffc800" && scale.color(12) == "#980000")
    }

    /// By hand from the paper's table 4, on both sides of each break point (10^1.69 gal, 10^0.48 cm/s).
    @Test func atkinsonAndKakaAtTheirBreakPoints() {
        func near(_ a: Double, _ b: Double) -> Bool { abs(a - b) < 1e-9 }
        #expect(near(AtkinsonKaka2007.mmi(pga: 0.1), 4.04) && near(AtkinsonKaka2007.mmi(pga: 1), 6.27))
        let below = AtkinsonKaka2007.mmi(pga: 0.489778819368446 * (1 - 1e-12))
        let above = AtkinsonKaka2007.mmi(pga: 0.489778819368447 * (1 + 1e-12))
        #expect(near(below, 4.9991) && near(above, 5.0021))
        #expect(near(AtkinsonKaka2007.mmi(pgv: 0.01), 4.37) && near(AtkinsonKaka2007.mmi(pgv: 0.1), 6.57))
        let (slow, fast) = (AtkinsonKaka2007.mmi(pgv: 0.0301), AtkinsonKaka2007.mmi(pgv: 0.0303))
        #expect(near(slow, 1.32 * 0.47856649559384334 + 4.37) && near(fast, 3.03 * 0.48144262850230496 + 3.54))
        #expect(AtkinsonKaka2007.mmi(pga: 1e-6) == 1 && AtkinsonKaka2007.mmi(pga: 100) == 10)
    }

    /// The Central Weather Administration's table: gal up to grade 4, cm/s beyond.
    @Test func taiwansScaleGoesOverFromAccelerationToVelocityAt80Gal() {
        let scale = IntensityScale.cwa
        func grade(_ gal: Double, _ cms: Double) -> String? {
            scale.grade(IntensityRelation.cwa.estimate(pga: gal / 100, pgv: cms / 100)?.value ?? .nan)
        }
        let weak = [(0.79, "0"), (0.81, "1"), (2.6, "2"), (7.9, "2"), (8.1, "3"), (25.1, "4"), (79, "4")]
        for (gal, name) in weak { #expect(grade(gal, 200) == name, "\(gal) gal") }
        let strong = [
            (14.9, "4"), (15.1, "5-"), (29.9, "5-"), (30.1, "5+"), (50.1, "6-"), (80.1, "6+"), (139, "6+"), (141, "7"),
        ]
        for (cms, name) in strong { #expect(grade(500, cms) == name, "\(cms) cm/s") }
        #expect(scale.roman(3) == nil && scale.color(3) == nil)
    }

    @Test func deviationsAreThoseOfTheLineThatWasUsed() {
        func sigma(_ relation: IntensityRelation, _ pga: Double) -> Double? {
            relation.estimate(pga: pga, pgv: 0.1)?.sigma
        }
        #expect(sigma(.wald99, 0.01) == 1.08 && sigma(.wald99, 0.9) == nil && sigma(.wald99, 5) == 0.98)
        #expect(sigma(.worden12, 1) == 0.65 && sigma(.atkinsonKaka07, 1) == 0.80 && sigma(.gutenbergRichter, 1) == nil)
    }

    @Test func shakeMapPrefersVelocityForWorden() throws {
        let estimate = try #require(IntensityRelation.worden12.estimate(pga: 1, pgv: 0.1))
        #expect(estimate.value == estimate.fromPGV)
        #expect(estimate.fromPGA == Worden2012.mmi(pga: 1))
    }
}

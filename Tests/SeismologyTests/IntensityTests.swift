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
            let estimate = relation.estimate(pga: 0, pgv: 0)
            #expect(estimate.value == 1)
            #expect(relation.scale.roman(estimate.value) == "I")
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

    @Test func shakeMapPrefersVelocityForWorden() {
        let estimate = IntensityRelation.worden12.estimate(pga: 1, pgv: 0.1)
        #expect(estimate.value == estimate.fromPGV)
        #expect(estimate.fromPGA == Worden2012.mmi(pga: 1))
    }
}

import Foundation
import TestSupport
import Testing

@testable import Seismology

@Suite struct AssessmentTests {
    // MARK: A real earthquake against numbers computed independently

    @Test func agreesWithTheReference() throws {
        let wanted = try #require(Vectors.json("discrimination/r01.json") as? [String: Any])
        let onset = try #require(wanted["onset_sample"] as? Int)
        let ground = try Ground.ridgecrest(onset: onset)
        let run = ground.run(onset..<ground.on.count)
        for (time, p) in try #require(wanted["p"] as? [[Double]]).map({ ($0[0], $0[1]) }) {
            let judged = try #require(run.judged.first { abs($0.time - time) < 1e-6 })
            #expect(abs(judged.probability - p) < 1e-6)
        }
        let logits = try #require(wanted["logit"] as? [String: Double])
        let features = try #require(wanted["features"] as? [String: [String: Double]])
        for judged in run.judged {
            guard let logit = logits[String(judged.block)], let all = features[String(judged.block)] else { continue }
            #expect(abs(judged.logit - logit) < 1e-6)
            for (k, feature) in DiscriminationModel.features.enumerated() {
                #expect(abs(judged.features[k] - (all[feature.name] ?? .nan)) < 1e-6, "\(feature.name)")
            }
        }
        #expect(logits.count == 5 && run.judged.count == 35)
        for (got, value) in zip(run.noise, try #require(wanted["noise"] as? [Double])) {
            #expect(abs(got - value) <= 1e-6 * abs(value))
        }
        let onsite = try #require(wanted["onsite"] as? [String: Any])
        for time in 1...3 {
            let values = try #require(onsite[String(time)] as? [String: Any])
            func near(_ got: Double, _ key: String) -> Bool {
                guard let value = values[key] as? Double else { return false }
                return abs(got - value) <= 1e-6 * value
            }
            let one = try #require(run.told.compactMap(\.estimate).first { $0.time == time })
            #expect(near(one.pd * 100, "pd_cm") && near(one.pv * 100, "pv_cm_s") && near(one.tauC, "tau_c_s"))
            #expect(near(one.iv2 * 1e4, "iv2_cm2_s"))
            #expect(near(one.pgvByPv * 100, "pgv_pv_cm_s") && near(one.pgvByPd * 100, "pgv_pd_cm_s"))
            #expect(one.pdIsValid == values["pd_valid"] as? Bool && one.pvIsValid == values["pv_valid"] as? Bool)
        }
        let decided = try #require(run.told.first { $0.result.likely == .earthquake })
        #expect(decided.sample == onset + 144 && decided.alarm && wanted["alarm_s"] as? Double == 1.44)
    }

    @Test func tellsAtOnceAndAtFiveMoments() throws {
        let ground = try Ground.ridgecrest(onset: 3095)
        let told = ground.run(3095..<ground.on.count).told
        // 0.48, 1, 1.44 (decided, certain later), 2, 2.4, 3, 5 s, and the estimates at 1, 2 and 3 s.
        #expect(told.map { $0.sample - 3095 }.allSatisfy { $0 <= 504 })
        #expect(told.filter { $0.estimate != nil }.count >= 3)
        let times = told.compactMap(\.result.time)
        for time in [0.48, 0.96, 1.92, 2.88, 4.8] { #expect(times.contains { abs($0 - time) < 0.13 }, "\(time)") }
        #expect(told.last?.result.isCertain == true && told.last?.result.likely == .earthquake)
    }

    // MARK: Cuts

    @Test(arguments: [100, 31.25, 1000]) func anyCutGivesTheSameBits(rate: Double) {
        let ground = Ground.shaken(rate: rate, seconds: 60, rise: 1, fall: 5, [1.3, 2.7, 4.1], amplitude: 0.5)
        let event = Int(40.5 * rate)..<Int(58 * rate)
        var shaken = ground
        for i in event { shaken.on[i] = 1 }
        let whole = shaken.run(event)
        for cuts in [[1], [3, 4], [7, 128, 50, 1]] { #expect(shaken.run(event, cuts: cuts) == whole, "\(cuts)") }
        #expect(whole.judged.count > 9 && whole.told.contains { $0.alarm })
    }

    // MARK: What may happen to an event

    @Test func aSensorThatIsCarriedIsNoEarthquake() {
        var ground = Ground.shaken(rise: 1, fall: 5, [1.3, 2.7, 4.1], amplitude: 0.5)
        for i in 4050..<9000 { ground.on[i] = 1 }
        let still = ground.run(4050..<8900).told
        for i in 4400..<9000 { ground.axes[0][i] += 1 }
        let told = ground.run(4050..<8900).told
        #expect(still.last?.result.likely == .earthquake && still.last?.result.moved == false)
        let last = told.last?.result
        #expect(
            last?.likely == .disturbance && last?.moved == true && last?.probability == 0 && last?.isCertain == false)
        #expect(told.contains { $0.result.likely == .earthquake })
    }

    @Test func aKnockIsADisturbance() {
        var ground = Ground.shaken(rise: 0.01, fall: 0.1, [21, 24, 33], amplitude: 0.3)
        for i in 4002..<4150 { ground.on[i] = 1 }
        let told = ground.run(4002..<6000).told
        #expect(told.last?.result.likely == .disturbance && !told.contains { $0.alarm })
        // Said when judging ends: it would have gone on 6 s after the onset.
        #expect(told.last?.sample == 4583)
    }

    @Test func anEarthquakeAfterAKnockInOneEventIsFound() {
        var ground = Ground.shaken(rise: 1, fall: 5, [1.3, 2.7, 4.1], amplitude: 0.5)
        for i in 3300..<3330 { ground.axes[0][i] += 0.3 * (i % 2 == 0 ? 1 : -1) }
        for i in 3302..<3400 { ground.on[i] = 1 }
        for i in 4050..<6000 { ground.on[i] = 1 }
        let told = ground.run(3302..<8900).told
        let classes = told.map(\.result.likely)
        #expect(classes.contains(.disturbance) && classes.last == .earthquake && told.last?.alarm == true)
        #expect(told.last?.result.time.map { $0 > 7.5 } == true)
    }

    @Test func isNotJudgedWithoutNoiseBefore() {
        var ground = Ground.shaken(quiet: 9, rise: 1, fall: 5, [1.3, 2.7, 4.1], amplitude: 0.5)
        for i in 950..<4000 { ground.on[i] = 1 }
        let run = ground.run(950..<4000)
        #expect(run.judged.isEmpty && run.told.allSatisfy { $0.result == EventClass() && !$0.alarm })
        #expect(run.told.compactMap(\.estimate).map(\.time) == [1, 2, 3])
    }

    @Test func aGapEndsTheAssessment() {
        var ground = Ground.shaken(rise: 1, fall: 5, [1.3, 2.7, 4.1], amplitude: 0.5)
        for i in 4050..<9000 { ground.on[i] = 1 }
        let told = ground.run(4050..<8900, gap: 4060).told
        #expect(told.isEmpty)
    }

    @Test func anAlarmNeedsBothClassAndVelocity() {
        func told(_ amplitude: Double, alarm: Double?) -> [Ground.Told] {
            var ground = Ground.shaken(rise: 1, fall: 5, [1.3, 2.7, 4.1], amplitude: amplitude)
            for i in 4050..<9000 { ground.on[i] = 1 }
            return ground.run(4050..<8900, .init(classification: true, onsite: false, alarm: alarm)).told
        }
        #expect(told(0.5, alarm: 0.005).last?.alarm == true)
        #expect(told(0.5, alarm: nil).last?.alarm == false)
        #expect(told(0.5, alarm: 0.5).last?.alarm == false)
        #expect(told(0.01, alarm: 0.005).last?.result.likely == .earthquake)
        #expect(told(0.01, alarm: 0.005).last?.alarm == false)
    }

    @Test func ratesBelow25HzHaveNoClass() {
        #expect(Discriminator(rate: 24.9) == nil && Discriminator(rate: 25) != nil && Discriminator(rate: 4000) != nil)
    }
}

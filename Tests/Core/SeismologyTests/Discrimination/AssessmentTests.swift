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
        let course = try #require(wanted["p"] as? [[Double]])
        for (judged, row) in zip(run.judged, course) {
            #expect(abs(judged.time - row[0]) < 1e-6 && abs(judged.probability - row[1]) < 1e-6)
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
        #expect(logits.count == 5 && run.judged.count == 35 && course.count == 35)
        let noise = try #require(wanted["noise"] as? [Double])
        for (got, value) in zip(run.noise, noise) { #expect(abs(got - value) <= 1e-6 * abs(value)) }
        #expect(noise.count == 12 && run.noise.count == 12)
        let onsite = try #require(wanted["onsite"] as? [String: Any])
        for time in [1, 2, 3, 5, 8] {
            let values = try #require(onsite[String(time)] as? [String: Any])
            func near(_ got: Double, _ key: String) -> Bool {
                guard let value = values[key] as? Double else { return false }
                return abs(got - value) <= 1e-6 * value
            }
            let one = try #require(run.told.compactMap(\.estimate).first { $0.time == time })
            #expect(near(one.pd * 100, "pd_cm") && near(one.pv * 100, "pv_cm_s") && near(one.tauC, "tau_c_s"))
            #expect(near(one.iv2 * 1e4, "iv2_cm2_s"))
            #expect(near(one.pgvByPv * 100, "pgv_pv_cm_s") && near(one.pgvByPd * 100, "pgv_pd_cm_s"))
            #expect(one.isSaturated == values["saturated"] as? Bool)
            #expect([one.range.low, one.range.high] == values["range"] as? [Double])
            #expect(one.pdIsValid == values["pd_valid"] as? Bool && one.pvIsValid == values["pv_valid"] as? Bool)
        }
        let decided = try #require(run.told.first { $0.result.likely == .earthquake })
        #expect(decided.sample == onset + 48 && decided.alarm && wanted["alarm_s"] as? Double == 0.48)
        #expect(wanted["decision_s"] as? Double == 0.48)
    }

    @Test func tellsAtOnceAndAtFiveMoments() throws {
        let ground = try Ground.ridgecrest(onset: 3095)
        let told = ground.run(3095..<ground.on.count).told
        // 0.48, 1 (decided and certain), 2, 3, 5 s, the estimates at 1, 2, 3, 5 and 8 s, and the end of judging after 30 s.
        #expect(told.dropLast().map { $0.sample - 3095 }.allSatisfy { $0 <= 504 || $0 == 800 })
        #expect(told.last?.result.isFinal == true && told.dropLast().allSatisfy { !$0.result.isFinal })
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

    /// What has been an earthquake with 0.8 is not taken back because the sensor slips.
    @Test func aSensorThatSlipsInAnEarthquakeIsMoved() {
        var ground = Ground.shaken(rise: 1, fall: 5, [1.3, 2.7, 4.1], amplitude: 0.5)
        for i in 4050..<5200 { ground.on[i] = 1 }
        let still = ground.run(4050..<6000).told
        for i in 4500..<9000 { ground.axes[0][i] += 0.4 }
        let told = ground.run(4050..<6000).told
        #expect(still.contains { $0.result.isCertain } && !still.contains { $0.result.moved })
        let certain = told.first { $0.result.isCertain }
        let moved = told.first { $0.result.moved }
        #expect(certain != nil && moved != nil && (certain?.sample ?? 0) < (moved?.sample ?? 0))
        #expect(told.allSatisfy { $0.result.probability != 0 } && told.last?.result.likely == .earthquake)
    }

    /// A shift that no motion explains is no earthquake from its first judging on.
    @Test func aSensorThatIsCarriedIsNoEarthquake() {
        var ground = Ground.shaken(rise: 1, fall: 5, [1.3, 2.7, 4.1], amplitude: 0.02)
        for i in 4100..<6000 { ground.on[i] = 1 }
        for i in 4080..<9000 { ground.axes[0][i] += 2 * min(1, Double(i - 4080) / 400) }
        let run = ground.run(4100..<8900)
        let last = run.told.last?.result
        #expect(last?.likely == .disturbance && last?.moved == true && last?.probability == 0 && last?.isFinal == true)
        #expect(run.judged.suffix(8).allSatisfy { $0.probability == 0 } && !run.told.contains { $0.alarm })
    }

    @Test func aKnockIsADisturbance() {
        var ground = Ground.shaken(rise: 0.01, fall: 0.1, [21, 24, 33], amplitude: 0.3)
        for i in 4002..<4150 { ground.on[i] = 1 }
        let told = ground.run(4002..<6000).told
        #expect(told.last?.result.likely == .disturbance && !told.contains { $0.alarm })
        // Said when judging ends: it would have gone on 6 s after the onset.
        #expect(told.first { $0.result.likely == .disturbance }?.sample == 4583)
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
        #expect(run.told.compactMap(\.estimate).map(\.time) == [1, 2, 3, 5, 8])
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
        #expect(told(0.5, alarm: 0.5).contains { $0.result.isCertain })
    }

    /// A higher probability is reached later.
    @Test func anAlarmHasAProbabilityOfItsOwn() throws {
        let ground = try Ground.ridgecrest(onset: 3095)
        func begin(_ p: Double) -> Int? {
            let settings = AssessmentSettings(
                classification: true, onsite: false, alarm: 0.005, alarmProbability: p)
            return ground.run(3095..<ground.on.count, settings).told.first { $0.alarm }.map { $0.sample - 3095 }
        }
        #expect(begin(0.5) == 48 && begin(0.85) == 48 && begin(0.95) == 96)
        #expect(begin(0.99) == 192 && begin(0.9995) == 576)
    }

    /// A velocity that the noise of 13 s has had as well is no reason for an alarm, twice of it is.
    @Test(arguments: [(2.1, true), (1.9, false)])
    func noiseBeforeHoldsAnAlarmBack(times: Double, isAlarm: Bool) throws {
        var motion = try RapidMotion(rate: 100)
        var alarm = MotionAlarm(velocity: 1e-6, rate: 100)
        for i in 0..<1900 {
            let wave = 0.1 * sin(2 * .pi * 2 * Double(i) / 100)
            motion.process([i < 1250 ? wave : i < 1500 ? 0 : times * wave, 0, 0], stride: 1, count: 1)
            if i == 1500 { alarm.begin(0, motion, at: i) }
            if i >= 1500 { alarm.step(motion, at: i, on: true) }
        }
        #expect((alarm.moved == 1) == isAlarm)
    }

    // MARK: How the class follows the probability

    /// Judgings half a second apart.
    private func course(_ probabilities: [Double]) -> ClassCourse {
        var course = ClassCourse()
        for (i, p) in probabilities.enumerated() { course.take(p, at: Double(i) / 2) }
        return course
    }

    @Test(arguments: [
        ([0.5], false), ([0.5, 0.5], true), ([0.74, 0.49, 0.74, 0.49], false), ([0.75], true),
        // Of the first six judgings 0.75 is enough, later 0.9.
        ([0.1, 0.1, 0.1, 0.1, 0.1, 0.75], true), ([0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.89], false),
        ([0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.9], true),
        // Below 0.3 for 2 s; not for 1.5 s, nor with a break.
        ([0.9, 0.29, 0.29, 0.29, 0.29], true), ([0.9, 0.29, 0.29, 0.29, 0.29, 0.29], false),
        ([0.9, 0.29, 0.29, 0.29, 0.3, 0.29, 0.29], true), ([0.9, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3], true),
        // And it may be one again.
        ([0.9, 0.1, 0.1, 0.1, 0.1, 0.1, 0.6, 0.6], true), ([0.9, 0.1, 0.1, 0.1, 0.1, 0.1, 0.6], false),
    ]) func theClassFollowsTheProbability(probabilities: [Double], isEarthquake: Bool) {
        #expect(course(probabilities).isEarthquake == isEarthquake)
    }

    @Test func aPeakIsForgottenBelowHalf() {
        #expect(course([0.7, 0.6]).peak == 0.7 && course([0.7, 0.5]).peak == 0.7 && course([0.7, 0.49]).peak == 0)
        #expect(course([0.7, 0.49, 0.6]).peak == 0.6)
        #expect(!course([0.79]).wasCertain && course([0.8, 0.1]).wasCertain)
    }

    /// From the ninth judging on, one alone is no peak.
    @Test func aLatePeakNeedsTwoJudgings() {
        let low = [Double](repeating: 0.1, count: 8)
        #expect(course(Array(low.dropLast()) + [0.9]).peak == 0.9 && course(low + [0.9]).peak == 0.1)
        #expect(course(low + [0.95, 0.9]).peak == 0.9 && course(low + [0.95, 0.9, 0.4]).peak == 0)
        #expect(course(low + [0.9]).isEarthquake)
    }

    /// An event is what its likeliest trigger is.
    @Test func triggersOfAnEventAreMerged() {
        var event = course([0.9])
        event.merge(course([0.2]))
        #expect(event.isEarthquake && event.probability == 0.9)
        var other = course([0.2])
        other.merge(course([0.9]))
        #expect(other.isEarthquake && other.probability == 0.9)
    }

    @Test func ratesBelow25HzHaveNoClass() {
        #expect(Discriminator(rate: 24.9) == nil && Discriminator(rate: 25) != nil && Discriminator(rate: 4000) != nil)
    }
}

@Suite struct DiscriminatorGapTests {
    /// The class of an event over some samples of x, y, z, with a gap before one of them.
    private func conclude(
        _ ground: Ground, _ event: Range<Int>, gap: Int = .max, bridged: Range<Int>? = nil
    ) throws -> (EventClass, seen: Bool) {
        var one = try #require(Discriminator(rate: ground.rate))
        let (n, planes) = (ground.axes[0].count, ground.axes.flatMap { $0 })
        try planes.withUnsafeBufferPointer { raw in
            try ground.on.withUnsafeBufferPointer { on in
                let (raw, on) = (try #require(raw.baseAddress), try #require(on.baseAddress))
                for i in 0..<min(n, event.upperBound) {
                    if i == gap { one.gap() }
                    if i == event.lowerBound { one.begin() }
                    if event.contains(i) { _ = one.beginning(on: on[i] != 0) }
                    if bridged?.contains(i) == true {
                        one.bridge(raw + i, stride: n, on + i, count: 1)
                    } else {
                        _ = one.take(raw + i, stride: n, on + i, count: 1)
                    }
                }
            }
        }
        return (one.conclusion, one.conclusion.time != nil)
    }

    private func knock(at place: Int, and others: [Int] = []) -> Ground {
        var ground = Ground.shaken(seconds: 60, quiet: 100, rise: 1, fall: 1, [1], amplitude: 0)
        for place in [place] + others {
            for i in place..<place + 30 { ground.axes[0][i] += 0.3 * (i % 2 == 0 ? 1 : -1) }
            for i in place..<place + 150 { ground.on[i] = 1 }
        }
        return ground
    }

    /// The noise is known in blocks: a gap takes away some, and an event soon after it is judged as without one.
    @Test func theNoiseOutlivesAGap() throws {
        let ground = knock(at: 3000)
        #expect(try conclude(ground, 3000..<4500).0.likely == .disturbance)
        for gap in [2000, 2800, 2960] {
            let (found, isJudged) = try conclude(ground, 3000..<4500, gap: gap)
            #expect(isJudged && found.likely == .disturbance, "gap at \(gap)")
        }
        #expect(try conclude(ground, 3000..<4500, bridged: 2950..<2960).0.likely == .disturbance)
    }

    /// What began where the noise is not known is not called a disturbance for a later trigger.
    @Test func anEventThatBeganUnjudgedIsNoDisturbance() throws {
        let (found, isJudged) = try conclude(knock(at: 900, and: [2600]), 900..<5000)
        #expect(isJudged && found.likely == .unclassified && found.isFinal)
    }

    /// Nor is one whose judging a gap has ended.
    @Test func anEventThatIsCutIsNoDisturbance() throws {
        let (found, isJudged) = try conclude(knock(at: 3000), 3000..<4500, gap: 3110)
        #expect(isJudged && found.likely == .unclassified)
    }
}

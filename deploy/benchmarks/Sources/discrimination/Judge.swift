import Foundation
import Seismology

/// Compares what the stages make of a recording with its entry.
struct Judge {
    private(set) var failures = 0
    private var compared = 0
    private var recordings = 0
    private var onsets = 0
    private var worst: [String: Double] = [:]

    /// Largest difference that is allowed: absolute, or relative for the on-site values.
    private static let limits = ["onsite": 1e-6]

    mutating func hold(_ recording: Recording, _ name: String, _ entry: [String: Any]) throws {
        recordings += 1
        let on = try recording.triggers()
        guard let rows = entry["onsets"] as? [[String: Any]] else { throw Failure("\(name): no onsets") }
        let found = Recording.onsets(on).prefix(rows.count)
        let wanted = rows.compactMap { $0["onset_sample"] as? Int }
        if Array(found) != wanted { fail("\(name): onsets \(Array(found)), expected \(wanted)") }
        for row in rows {
            guard let onset = row["onset_sample"] as? Int else { continue }
            onsets += 1
            let whole = Pass(recording, on, onset: onset, cuts: [128])
            for cuts in [[1], [3, 128, 7, 50, 1]] where Pass(recording, on, onset: onset, cuts: cuts) != whole {
                fail("\(name): cut by \(cuts) the numbers are not the same")
            }
            hold(whole, "\(name) at \(onset)", row)
        }
    }

    private mutating func hold(_ pass: Pass, _ place: String, _ row: [String: Any]) {
        let p = row["p"] as? [[Double]] ?? []
        if pass.judged.count != p.count { fail("\(place): \(pass.judged.count) judgings, expected \(p.count)") }
        for (one, expected) in zip(pass.judged, p) {
            compare("t", one.time, expected[0], place)
            compare("p", one.probability, expected[1], place)
        }
        let judged = Dictionary(pass.judged.map { (String($0.block), $0) }, uniquingKeysWith: { first, _ in first })
        for (block, value) in row["logit"] as? [String: Double] ?? [:] {
            compare("logit", judged[block]?.logit, value, "\(place) block \(block)")
        }
        for (block, values) in row["features"] as? [String: [String: Double]] ?? [:] {
            for (k, feature) in DiscriminationModel.features.enumerated() {
                compare(
                    "features", judged[block]?.features[k], values[feature.name],
                    "\(place) block \(block) \(feature.name)")
            }
        }
        for (k, value) in (row["noise"] as? [Double] ?? []).enumerated() {
            compare("noise", pass.noise[k], value, "\(place) noise \(k)", relative: true)
        }
        compare("decision", pass.decision, row["decision_s"] as? Double, place)
        compare("alarm", pass.alarm, row["alarm_s"] as? Double, place)
        if pass.moved != (row["moved"] as? Bool ?? false) { fail("\(place): moved \(pass.moved)") }
        let onsite = row["onsite"] as? [String: Any] ?? [:]
        for one in pass.estimates {
            guard let wanted = onsite[String(one.time)] as? [String: Any] else {
                fail("\(place): an estimate after \(one.time) s")
                continue
            }
            for (key, value) in [
                ("pd_cm", one.pd * 100), ("pv_cm_s", one.pv * 100), ("tau_c_s", one.tauC), ("iv2_cm2_s", one.iv2 * 1e4),
                ("pgv_pd_cm_s", one.pgvByPd * 100), ("pgv_pv_cm_s", one.pgvByPv * 100),
            ] { compare("onsite", value, wanted[key] as? Double, "\(place) \(one.time) s \(key)", relative: true) }
            for (key, value, ratio) in [
                ("pd", one.pdIsValid, one.pd * 100 / (3 * (onsite["pd_noise_cm"] as? Double ?? 0))),
                ("pv", one.pvIsValid, one.pv * 100 / (2 * (onsite["pv_noise_cm_s"] as? Double ?? 0))),
            ] where abs(ratio - 1) > 1e-9 && value != wanted["\(key)_valid"] as? Bool {
                fail("\(place): \(key)_valid after \(one.time) s is \(value)")
            }
        }
        if pass.estimates.count != [1, 2, 3, 5, 8].filter({ onsite[String($0)] != nil }).count {
            fail("\(place): \(pass.estimates.count) estimates")
        }
    }

    private mutating func compare(
        _ kind: String, _ got: Double?, _ wanted: Double?, _ place: String, relative: Bool = false
    ) {
        compared += 1
        guard let got, let wanted else {
            if got != nil || wanted != nil { fail("\(place): \(kind) is \(got as Any), expected \(wanted as Any)") }
            return
        }
        let error = abs(got - wanted) / (relative ? max(abs(wanted), 1e-30) : 1)
        worst[kind] = max(worst[kind] ?? 0, error)
        if !(error <= 1e-6) { fail("\(place): \(kind) is \(got), expected \(wanted)") }
    }

    private mutating func fail(_ text: String) {
        failures += 1
        if failures <= 20 { print("FAILED", text) }
    }

    func report() {
        print("\(recordings) recordings, \(onsets) onsets, \(compared) values")
        for (kind, error) in worst.sorted(by: { $0.key < $1.key }) {
            print(
                kind.padding(toLength: 10, withPad: " ", startingAt: 0),
                String(format: "differs at most by %.1e", error))
        }
        if failures > 0 { print("\(failures) differences") }
    }
}

/// One event of a recording through the stages, to the end of the recording; judgings are those of its first trigger.
struct Pass: Equatable {
    var judged: [Discriminator.Judged] = []
    var noise: [Double] = []
    var estimates: [OnsiteEstimate] = []
    var alarm: Double?
    var moved = false
    var decision: Double?

    init(_ recording: Recording, _ on: [UInt8], onset: Int, cuts: [Int]) {
        let n = recording.count
        var stages = EventAssessment(
            .init(classification: true, onsite: true, alarm: 0.005), rate: recording.rate)
        recording.samples.withUnsafeBufferPointer { raw in
            on.withUnsafeBufferPointer { on in
                guard let raw = raw.baseAddress, let on = on.baseAddress else { return }
                var (start, turn) = (0, 0)
                while start < n {
                    let count = min(cuts[turn % cuts.count], n - start)
                    stages.process(raw + start, stride: n, count: count)
                    var i = start
                    while i < start + count {
                        if i < onset {
                            let quiet = min(onset, start + count) - i
                            stages.skip(raw + i, stride: n, on + i, count: quiet)
                            i += quiet
                            continue
                        }
                        if i == onset { stages.begin() }
                        step(&stages, raw + i, n, on + i, at: Double(i - onset) / recording.rate)
                        i += 1
                    }
                    start += count
                    turn += 1
                }
            }
        }
    }

    private mutating func step(
        _ stages: inout EventAssessment, _ raw: UnsafePointer<Double>, _ n: Int, _ on: UnsafePointer<UInt8>,
        at time: Double
    ) {
        let (before, wasAlarm) = (stages.discriminator?.newest, stages.isAlarm)
        let estimate = stages.estimate
        _ = stages.step(raw, stride: n, on)
        if let newest = stages.discriminator?.newest, newest != before {
            if judged.isEmpty { noise = stages.discriminator?.noise ?? [] }
            judged.append(newest)
        }
        if stages.estimate != estimate, let new = stages.estimate { estimates.append(new) }
        if stages.isAlarm, !wasAlarm { alarm = time }
        if decision == nil, let now = stages.discriminator?.result, now.likely == .earthquake { decision = now.time }
        if stages.discriminator?.result.moved == true { moved = true }
    }
}

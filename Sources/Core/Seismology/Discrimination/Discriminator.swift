import SignalProcessing

/// Probable cause of an event, as far as one station can say: by the newest judging, so that it may change back.
public struct EventClass: Sendable, Equatable {
    public enum Likely: String, Sendable, CaseIterable { case earthquake, disturbance, unclassified }

    public var likely = Likely.unclassified
    /// Probability of an earthquake, at the last judging.
    public var probability: Double?
    /// Time of that judging, seconds of samples after the event's onset.
    public var time: Double?
    /// It is taken for an earthquake with a probability of 0.8 or more.
    public var isCertain = false
    /// The sensor was turned or carried.
    public var moved = false
    /// It is not judged any more: this is the class of the last judgings, made while the motion lasted.
    public var isFinal = false

    public init() {}
}

/// Tells earthquakes from disturbances by their bands, their rise, their polarisation and their steadiness beside the noise
/// before them: a logistic regression (``DiscriminationModel``), judged half a second after the onset and then again until
/// 30 s or the end of the trigger. It delays, moves and removes nothing.
///
/// A trigger within an open event is judged as well, from its own onset: an event is an earthquake when one of its
/// triggers is.
public struct Discriminator: Sendable {
    /// One trigger that is judged.
    private struct Judging: Sendable {
        /// Sample and block of its onset.
        let onset: Int
        let block: Int
        /// Blocks after that one at which it is judged next; nil: no more.
        var next: Int? = 4
        /// Mean acceleration of 2 s before.
        var rest = SIMD3<Double>.zero
        /// Mean acceleration of 10 s before, where there are enough blocks; largest square of the band since the onset.
        var mean: SIMD3<Double>?
        var largest = 0.0
        var course = ClassCourse()
    }

    /// One judging with what it was made of.
    public struct Judged: Sendable, Equatable {
        /// Blocks after that of the onset.
        public var block: Int
        let values: DiscriminationFeatures
        /// In the order of ``DiscriminationModel/features``.
        public var features: [Double] { values.array }
        public var logit: Double
        public var probability: Double
        /// Seconds after the onset.
        public var time: Double
        /// Shift of the mean acceleration, of the largest one since the onset; 0 up to 20 mg.
        public var shift: Double
    }

    /// Shifts, of the largest acceleration, from which on the sensor was moved, and from which on no strong motion explains it.
    private static let (movedShare, carriedShare) = (0.05, 0.3)
    /// Judged at once; a further trigger takes the place of the one that began first.
    static let most = 2

    private var blocks: GroundBlocks
    private let rate: Double
    private var judgings: [Judging?] = Array(repeating: nil, count: most)
    /// Noise at each judging.
    private var noises = [Double](repeating: 0, count: most * GroundBlocks.noiseValues)
    /// Course of the event's judgings that have given their place to others.
    private var past = ClassCourse()
    /// Sample of the event's onset; nil without an event.
    private var onset: Int?
    private var wasOn = false
    /// Whether the event cannot be called a disturbance: its first trigger was not judged, or not to its end.
    private var isOpenQuestion = false
    /// The noise, as of now: energies of the bands from 0.5, 1, 2, 4 and 8 Hz, products of the axes xx yy zz xy xz yz.
    public var noise: [Double] { blocks.noise }
    /// Class of the open event so far.
    public private(set) var result = EventClass()
    /// Features at the judgings that are published, in their order, with their seconds; of the event's first trigger.
    public private(set) var judged: [(time: Double, features: [Double])] = []
    /// Input of the newest judging of the event's first trigger.
    public private(set) var newest: Judged?

    /// - Parameter rate: samples per second.
    /// - Returns: nil below 25 Hz, where the bands have no room.
    public init?(rate: Double) {
        guard rate >= 25, let blocks = try? GroundBlocks(rate: rate) else { return nil }
        (self.blocks, self.rate) = (blocks, rate)
    }

    /// Forgets all samples; an open event is judged no more.
    /// - Parameter blind: samples from now on until all detectors can trigger.
    public mutating func reset(blind: Int = 0) {
        blocks.reset(blind: blind)
        stop()
    }

    /// Samples are missing: an open event is judged no more, and the noise stays.
    mutating func gap(blind: Int = 0) {
        blocks.gap(blind: blind)
        stop()
    }

    /// Detectors have begun anew: an open event's end may not be seen.
    mutating func detectorsBegan(blind: Int) {
        blocks.detectorsBegan(blind: blind)
        if onset != nil { isOpenQuestion = true }
    }

    /// Takes samples that were estimated.
    mutating func bridge(_ raw: UnsafePointer<Double>, stride: Int, _ on: UnsafePointer<UInt8>, count: Int) {
        var done = 0
        while done < count {
            done += blocks.take(raw + done, stride: stride, on + done, count: count - done, isEstimated: true)
            if onset != nil, blocks.isAtEnd { _ = judge() }
        }
    }

    private mutating func stop() {
        if onset != nil { isOpenQuestion = true }
        onset = nil
        wasOn = false
        for k in judgings.indices { judgings[k] = nil }
    }

    /// An event begins with the next sample.
    public mutating func begin() {
        (result, newest, onset, wasOn) = (EventClass(), nil, blocks.taken, true)
        past = ClassCourse()
        isOpenQuestion = blocks.isDoubtful
        judged.removeAll(keepingCapacity: true)
        for k in judgings.indices { judgings[k] = nil }
        judgings[0] = Judging(onset: blocks.taken, block: blocks.taken / blocks.length)
    }

    /// The event is over.
    public mutating func end() { onset = nil }

    /// Which of the triggers that are judged are taken for earthquakes, have reached a probability and have not fallen below
    /// 0.5 since, as bits.
    func reached(_ probability: Double) -> UInt8 {
        var bits: UInt8 = 0
        for k in judgings.indices {
            guard let course = judgings[k]?.course, course.isEarthquake, course.peak >= probability else { continue }
            bits |= 1 << UInt8(k)
        }
        return bits
    }

    /// Class of an event that ends now.
    public var conclusion: EventClass {
        var result = result
        conclude(&result)
        return result
    }

    private func conclude(_ result: inout EventClass) {
        result.isFinal = true
        if isOpenQuestion { return }
        if result.likely == .unclassified, let p = result.probability, p < ClassCourse.likely {
            result.likely = .disturbance
        }
    }

    /// The judging that begins with the next sample, where that is the first of another trigger in an open event.
    /// - Parameter on: whether that sample is in a trigger.
    mutating func beginning(on: Bool) -> Int? {
        defer { wasOn = on }
        guard onset != nil, on, !wasOn else { return nil }
        var place = 0
        for k in judgings.indices {
            guard let one = judgings[k], one.next != nil else {
                place = k
                break
            }
            if one.onset < (judgings[place]?.onset ?? .max) { place = k }
        }
        if let old = judgings[place] { past.merge(old.course) }
        judgings[place] = Judging(onset: blocks.taken, block: blocks.taken / blocks.length)
        return place
    }

    /// Takes samples, in an event one after the other.
    /// - Parameters:
    ///   - raw: three planes of samples, `stride` apart, m/s².
    ///   - on: of each sample, not 0 in a trigger.
    /// - Returns: whether there is something new to publish.
    public mutating func take(
        _ raw: UnsafePointer<Double>, stride: Int, _ on: UnsafePointer<UInt8>, count: Int
    ) -> Bool {
        var (done, isNew) = (0, false)
        while done < count {
            done += blocks.take(raw + done, stride: stride, on + done, count: count - done)
            if onset != nil, blocks.isAtEnd, judge() { isNew = true }
        }
        return isNew
    }

    /// At the end of a block.
    private mutating func judge() -> Bool {
        let (before, block) = (result, blocks.count - 1)
        var isDue = false
        for k in judgings.indices where judgings[k]?.next != nil {
            if step(k, block), k == 0, judgings[k]?.onset == onset { isDue = true }
        }
        if result.time != nil {
            var event = past
            for judging in judgings { if let judging { event.merge(judging.course) } }
            (result.probability, result.likely) = (event.probability, event.isEarthquake ? .earthquake : .unclassified)
            result.isCertain = event.isEarthquake && (event.probability ?? 0) >= ClassCourse.certain
            result.isFinal = false
            if !judgings.contains(where: { $0?.next != nil }) { conclude(&result) }
        }
        return isDue || result.likely != before.likely || result.isCertain != before.isCertain
            || result.moved != before.moved || result.isFinal != before.isFinal
    }

    /// One judging at the end of a block; true where it is one to be published.
    private mutating func step(_ k: Int, _ block: Int) -> Bool {
        guard var one = judgings[k], let next = one.next, let onset else { return false }
        defer { judgings[k] = one }
        let noise = k * GroundBlocks.noiseValues..<(k + 1) * GroundBlocks.noiseValues
        if block == one.block {
            // Too little noise has been seen.
            guard blocks.seen >= 80 else {
                one.next = nil
                if one.onset == onset { isOpenQuestion = true }
                return false
            }
            for i in noise { noises[i] = blocks.noise[i - noise.lowerBound] }
            one.rest = blocks.mean(block - 20..<block - 4)
            if block >= 96 { one.mean = blocks.mean(block - 96..<block - 16) }
            for b in max(0, block - 4)..<block { one.largest = max(one.largest, blocks.value(15, b)) }
        }
        one.largest = max(one.largest, blocks.value(15, block))
        guard block == one.block + next else { return false }
        guard next <= 40 || blocks.beginsTriggered else {
            one.next = nil
            return false
        }
        let features = DiscriminationFeatures(
            blocks, max(0, one.block - 4, block - 39)..<block + 1, noise: noises[noise], rest: one.rest)
        let sinceOnset = Double((block + 1) * blocks.length - 1 - one.onset) / rate
        let logit = features.logit(at: sinceOnset)
        let shift = shift(one, block)
        if shift > Self.movedShare { result.moved = true }
        // What strong motion does not explain is no earthquake, unless it has been one before.
        let isCarried = shift > Self.carriedShare && !one.course.wasCertain
        let p = isCarried ? 0 : DiscriminationFeatures.probability(logit)
        one.next = next < 40 ? next + 4 : next < 240 ? next + 8 : nil
        let time = sinceOnset + Double(one.onset - onset) / rate
        let isDue = [4, 8, 16, 24, 40].contains(next)
        if one.onset == onset {
            newest = Judged(
                block: next, values: features, logit: logit, probability: p, time: time, shift: shift)
            if isDue { judged.append((time, features.array)) }
        }
        one.course.take(p, at: time)
        result.time = time
        return isDue
    }

    /// By how much of the largest acceleration since the onset the mean of 4 s has shifted; 0 up to 20 mg.
    private func shift(_ one: Judging, _ block: Int) -> Double {
        guard let mean = one.mean else { return 0 }
        let shift = blocks.mean(block - 31..<block + 1) - mean
        let size = (shift * shift).sum().squareRoot()
        return size > 0.02 * standardGravity ? size / max(one.largest.squareRoot(), 1e-15) : 0
    }
}

/// How the class follows the probability: an earthquake from 0.5 at two judgings in a row, or from 0.75 at one of the first six,
/// up to 3 s after the onset, or from 0.9 at any later one; none any more when the probability has been below 0.3 for 2 s.
struct ClassCourse: Sendable, Equatable {
    static let likely = 0.5
    static let certain = 0.8
    private static let (soon, later) = (0.75, 0.9)
    private static let run = 2
    private static let unlikely = 0.3
    private static let patience = 2.0
    /// Judgings of which one from ``soon`` is enough for an earthquake.
    private static let first = 6
    /// Judgings of which one is enough for an alarm.
    private static let early = 8

    /// At the newest judging; nil before the first.
    private(set) var probability: Double?
    private(set) var isEarthquake = false
    /// The largest since it has been below 0.5; from the ninth judging on, 4.5 s after the onset, the largest that two judgings
    /// in a row had. (The window then loses the rise, so that noise which goes on may look like shaking once.)
    private(set) var peak = 0.0
    /// The probability has been 0.8 or more.
    private(set) var wasCertain = false
    /// Judgings in a row at 0.5 and more; when the first of those below 0.3 was, s.
    private var likely = 0
    private var count = 0
    private var lowSince: Double?

    /// - Parameter time: s, not before that of the last judging.
    mutating func take(_ p: Double, at time: Double) {
        let confirmed = count < Self.early ? p : min(p, probability ?? 0)
        count += 1
        probability = p
        likely = p >= Self.likely ? likely + 1 : 0
        peak = p >= Self.likely ? max(peak, confirmed) : 0
        if p >= Self.certain { wasCertain = true }
        if likely >= Self.run || p >= (count <= Self.first ? Self.soon : Self.later) { isEarthquake = true }
        guard p < Self.unlikely else {
            lowSince = nil
            return
        }
        let since = lowSince ?? time
        lowSince = since
        if time - since >= Self.patience { isEarthquake = false }
    }

    /// Takes over what another trigger of the same event has come to.
    mutating func merge(_ other: ClassCourse) {
        if let p = other.probability { probability = max(p, probability ?? 0) }
        isEarthquake = isEarthquake || other.isEarthquake
    }
}

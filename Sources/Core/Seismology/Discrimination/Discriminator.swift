import SignalProcessing

/// What an event probably is, as far as one station can say.
public struct EventClass: Sendable, Equatable {
    public enum Likely: String, Sendable, CaseIterable { case earthquake, disturbance, unclassified }

    public var likely = Likely.unclassified
    /// That it is an earthquake, at the last judging.
    public var probability: Double?
    /// Of that judging, seconds of samples after the event's onset.
    public var time: Double?
    /// The probability has been 0.8 or more.
    public var isCertain = false
    /// The sensor was turned or carried.
    public var moved = false

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
        /// Mean acceleration before, where there are enough blocks; largest square of the band since the onset.
        var mean: SIMD3<Double>?
        var largest = 0.0
        var moved = false
        /// It has been found to be an earthquake.
        var decided = false
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
    }

    /// Judged at once; a further trigger takes the place of the one that began first.
    static let most = 2

    private var blocks: GroundBlocks
    private let rate: Double
    private var judgings: [Judging?] = Array(repeating: nil, count: most)
    /// Of each judging.
    private var noises = [Double](repeating: 0, count: most * GroundBlocks.noiseValues)
    /// Sample of the event's onset; nil without an event.
    private var onset: Int?
    private var wasOn = false
    /// The noise, as of now: energies of the bands from 0.5, 1, 2, 4 and 8 Hz, products of the axes xx yy zz xy xz yz.
    public var noise: [Double] { blocks.noise }
    /// What is known of the open event.
    public private(set) var result = EventClass()
    /// Features at the judgings that are published, in their order, with their seconds; of the event's first trigger.
    public private(set) var judged: [(time: Double, features: [Double])] = []
    /// What the newest judging of the event's first trigger was made of.
    public private(set) var newest: Judged?

    /// - Parameter rate: samples per second.
    /// - Returns: nil below 25 Hz, where the bands have no room.
    public init?(rate: Double) {
        guard rate >= 25, let blocks = try? GroundBlocks(rate: rate) else { return nil }
        (self.blocks, self.rate) = (blocks, rate)
    }

    /// Forgets all samples; an open event is judged no more.
    public mutating func reset() {
        blocks.reset()
        onset = nil
        wasOn = false
        for k in judgings.indices { judgings[k] = nil }
    }

    /// An event begins with the next sample.
    public mutating func begin() {
        (result, newest, onset, wasOn) = (EventClass(), nil, blocks.taken, true)
        judged.removeAll(keepingCapacity: true)
        for k in judgings.indices { judgings[k] = nil }
        judgings[0] = Judging(onset: blocks.taken, block: blocks.taken / blocks.length)
    }

    /// The event is over.
    public mutating func end() { onset = nil }

    /// Whether one of the triggers that are being judged is an earthquake: which, as bits.
    var decided: UInt8 {
        var bits: UInt8 = 0
        for k in judgings.indices where judgings[k]?.decided == true { bits |= 1 << UInt8(k) }
        return bits
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
        if result.likely == .unclassified, result.time != nil, !judgings.contains(where: { $0?.next != nil }) {
            result.likely = .disturbance
        }
        return isDue || result.likely != before.likely || result.isCertain != before.isCertain
            || result.moved != before.moved
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
                return false
            }
            for i in noise { noises[i] = blocks.noise[i - noise.lowerBound] }
            if block >= 96 { one.mean = blocks.mean(block - 96..<block - 16) }
            for b in max(0, block - 4)..<block { one.largest = max(one.largest, blocks.value(14, b)) }
        }
        one.largest = max(one.largest, blocks.value(14, block))
        guard block == one.block + next else { return false }
        guard next <= 40 || blocks.beginsTriggered else {
            one.next = nil
            return false
        }
        let features = DiscriminationFeatures(
            blocks, max(0, one.block - 4, block - 39)..<block + 1, noise: noises[noise])
        let sinceOnset = Double((block + 1) * blocks.length - 1 - one.onset) / rate
        let logit = features.logit(at: sinceOnset)
        if let mean = one.mean {
            let shift = blocks.mean(block - 31..<block + 1) - mean
            let size = (shift * shift).sum().squareRoot()
            one.moved = one.moved || (size > 0.02 * standardGravity && size > 0.05 * one.largest.squareRoot())
        }
        let p = one.moved ? 0 : DiscriminationFeatures.probability(logit)
        one.next = next < 40 ? next + 4 : next < 240 ? next + 8 : nil
        let time = sinceOnset + Double(one.onset - onset) / rate
        let isDue = [4, 8, 16, 24, 40].contains(next)
        if one.onset == onset {
            newest = Judged(block: next, values: features, logit: logit, probability: p, time: time)
            if isDue { judged.append((time, features.array)) }
        }
        if p >= DiscriminationModel.likely { one.decided = true }
        if one.moved { (result.moved, one.decided) = (true, false) }
        take(p, at: time)
        return isDue
    }

    private mutating func take(_ p: Double, at time: Double) {
        (result.probability, result.time) = (p, time)
        if result.moved {
            (result.probability, result.likely, result.isCertain) = (0, .disturbance, false)
        } else if p >= DiscriminationModel.likely {
            result.likely = .earthquake
            if p >= DiscriminationModel.certain { result.isCertain = true }
        }
    }
}

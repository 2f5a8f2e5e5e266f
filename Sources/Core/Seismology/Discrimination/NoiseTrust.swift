/// Whether the noise that ``GroundBlocks`` has averaged is noise: after a start and after a gap no detector can trigger for a
/// while, and shaking in that time looks like ground without a trigger.
///
/// - After a gap the noise from before it stays as it is until the detectors are ready and the ground has been calm beside
///   it for 3 s. An event that begins after more than a second of louder ground did not begin with its trigger.
/// - After a start the noise is averaged as it comes. It is doubtful while it is above three times what the ground can be
///   like: the quietest second, or the blocks of the last 10 s for which the detectors were ready; and while it is strong
///   shaking, for three minutes.
/// - After a gap before there was enough noise, nobody knows what the gap has hidden, and the end of an earthquake may sound
///   like noise for long: the noise is averaged as it comes, and all is doubtful for three minutes.
struct NoiseTrust: Sendable {
    private enum State { case sure, waiting, learning }

    /// A second is louder than noise from so many times its power on. (Of noise itself the mean of a second is within 1.6.)
    private static let loud = 3.0
    /// Power that is below all noise that matters, m²/s⁴.
    private static let least = 1e-6
    /// Power of what people feel, m²/s⁴.
    private static let strong = 2.5e-3
    /// Blocks: of a second, of calm, that a judging needs, after which louder ground is the new noise.
    private static let (second, calm, needed, patience) = (8, 24, 80, 1440)

    private var state = State.sure
    /// Blocks until all detectors can trigger.
    private var blind = 0
    /// Blocks for which all is doubtful.
    private var unknown = 0
    /// Powers of the last blocks, and how many of them there are.
    private var recent = SIMD8<Double>.zero
    private var filled = 0
    /// The block with which louder ground began, and calm blocks since.
    private var loudSince: Int?
    private var calmBlocks = 0
    /// State of a start: power of the quietest second, mean of the last 80 blocks with detectors, and how many there have been.
    private var quietest = Double.infinity
    private var watchedPower = 0.0
    private var watched = 0

    /// Whether blocks without a trigger say something of the noise.
    var mayLearn: Bool { state != .waiting }

    /// All is forgotten.
    /// - Parameter blind: blocks until all detectors can trigger; 0: they are ready.
    mutating func start(blind: Int) {
        self = NoiseTrust()
        guard blind > 0 else { return }
        (state, self.blind) = (.learning, blind)
    }

    /// Samples are missing, or detectors have begun anew.
    /// - Parameters:
    ///   - blind: blocks until all of them can trigger.
    ///   - noise: power of the noise, m²/s⁴; `seen`: blocks that are in it.
    ///   - isMissing: whether samples are missing.
    mutating func gap(blind: Int, noise: Double, seen: Int, isMissing: Bool) {
        let isKnown = seen >= Self.needed && !(state == .learning && isAbove(noise))
        (state, self.blind) = (isKnown ? .waiting : .learning, blind)
        if isMissing, !isKnown { unknown = Self.patience }
        (recent, filled, loudSince, calmBlocks) = (.zero, 0, nil, 0)
        (watched, watchedPower) = (0, 0)
    }

    /// Takes the power of a block, m²/s⁴.
    /// - Returns: false where the noise is no longer what it was: it has to be averaged anew.
    mutating func take(_ power: Double, block: Int, noise: Double, seen: Int) -> Bool {
        if unknown > 0 { unknown -= 1 }
        guard state != .sure else { return true }
        if blind > 0 { blind -= 1 }
        recent[block % Self.second] = power
        filled = min(filled + 1, Self.second)
        let mean = recent.sum() / Double(filled)
        if state == .learning {
            if filled == Self.second { quietest = min(quietest, mean) }
            if blind == 0, seen >= Self.needed, !isAbove(noise) { state = .sure }
            return true
        }
        if mean > Self.loud * max(noise, Self.least) {
            loudSince = loudSince ?? block
            calmBlocks = 0
        } else {
            calmBlocks += 1
            if calmBlocks >= Self.calm { loudSince = nil }
        }
        guard blind == 0 else { return true }
        guard let since = loudSince else {
            if calmBlocks >= Self.calm { state = .sure }
            return true
        }
        guard block - since > Self.patience else { return true }
        (state, quietest, loudSince) = (.learning, .infinity, nil)
        return false
    }

    /// A block has come into the noise that is learnt after a start.
    mutating func learned(_ power: Double) {
        guard state == .learning, blind == 0 else { return }
        watched += 1
        watchedPower += (power - watchedPower) / Double(min(watched, Self.needed))
    }

    /// Whether an event that begins in a block may have begun before it, or beside what is no noise.
    func isDoubtful(at block: Int, noise: Double) -> Bool {
        if unknown > 0 { return true }
        return switch state {
        case .sure: false
        case .waiting: loudSince.map { block - $0 > Self.second } ?? false
        case .learning: isAbove(noise)
        }
    }

    private func isAbove(_ noise: Double) -> Bool {
        if noise > Self.strong, watched < Self.patience { return true }
        let isWatched = watched >= Self.needed
        let known = max(quietest, isWatched ? watchedPower : 0)
        return noise > max(Self.loud * known, Self.least)
    }
}

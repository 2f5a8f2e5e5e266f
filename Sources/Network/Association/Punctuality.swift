/// How long after what they speak of the messages of a region come. A detector that waits for nothing takes what has not come
/// within this time for missing: no sooner, because silent stations speak against an event, and no later, because a siren may
/// depend on it. Delays are those of the network, and of clocks that are not the detector's own. A value.
struct Punctuality: Sendable, Equatable {
    /// Messages that are remembered, and how many of them come within the time.
    private static let most = 50
    private static let part = 0.9
    /// As long as fewer have come, the others are taken to be as late as this (ns).
    private static let least = 10
    private static let usual: Int64 = 1_000_000_000
    /// Longest wait for a station (ns).
    static let longest: Int64 = 3_000_000_000
    /// Longest delay that counts (ns): a message that comes later was stored somewhere meanwhile, and says nothing of
    /// the next one.
    private static let stored: Int64 = 30_000_000_000

    /// The last delays, ns; the oldest one is at `next` once there are `most`.
    private var delays: [Int64] = []
    private var next = 0
    /// Nanoseconds for which a message is waited for.
    private(set) var patience = Self.usual

    init() {}

    /// Takes the delay of a message (ns).
    mutating func note(_ delay: Int64) {
        guard delay <= Self.stored else { return }
        let delay = min(Self.longest, max(0, delay))
        if delays.count < Self.most {
            delays.append(delay)
        } else {
            delays[next] = delay
            next = (next + 1) % Self.most
        }
        var known = delays
        while known.count < Self.least { known.append(Self.usual) }
        known.sort()
        patience = known[Int(Self.part * Double(known.count - 1))]
    }
}

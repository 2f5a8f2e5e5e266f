/// Distinguishes a broker that hangs up on a message from a bad line. Pure.
///
/// A broker that takes no message as large as this, or none on this topic, may close the connection without a word:
/// MQTT 3.1.1 has no other way, and some have a limit that they do not announce. It may even have acknowledged the message
/// before. So does a bad line. After two short connections in a row that the peer closed while something was on its way,
/// messages go one at a time: then only the one that is on its way, or the one that was acknowledged last (3.1.1), can be
/// the cause. Both are suspects and are tried alone (`Refusals`). Nobody is suspected for connections that never get as
/// far as an acknowledgement.
struct Suspicion: Sendable, Equatable {
    /// Such connections after which messages go one at a time.
    static let fruitlessLimit = 2
    /// A connection that was longer than this, and not without acknowledgement, counts as a good one (ns).
    static let youth: UInt64 = 10_000_000_000
    /// Time after an acknowledgement within which a broker hangs up over that message (ns).
    static let quiet: UInt64 = 250_000_000
    /// After so many acknowledgements in a row the line counts as good, even if more is always waiting.
    static let well = 1000

    /// No more than one message may be on its way.
    private(set) var oneAtATime = false
    private var fruitless = 0
    private var acknowledgements = 0

    /// A connection broke.
    /// - Parameters:
    ///   - byPeer: the other side, or the line, has ended it.
    ///   - isBusy: something was on its way or just acknowledged.
    ///   - age: how long it lasted (ns).
    /// - Returns: true when what was on its way, or acknowledged last, is suspect.
    mutating func broke(byPeer: Bool, isBusy: Bool, age: UInt64) -> Bool {
        let acknowledged = acknowledgements > 0
        acknowledgements = 0
        guard byPeer, isBusy else { return false }
        guard !oneAtATime else { return acknowledged }
        fruitless = acknowledged && age >= Self.youth ? 0 : fruitless + 1
        if fruitless >= Self.fruitlessLimit { (oneAtATime, fruitless) = (true, 0) }
        return false
    }

    mutating func acknowledged() {
        acknowledgements += 1
        if oneAtATime, acknowledgements >= Self.well { rested() }
    }

    /// All that there was has been acknowledged, and a while has passed.
    mutating func rested() { (oneAtATime, fruitless) = (false, 0) }
}

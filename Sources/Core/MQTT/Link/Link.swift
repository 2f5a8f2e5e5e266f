import Glibc
import Messages
import Platform

/// The connection of one agent to its broker. Any thread may publish; a thread of the link's own does everything
/// else, and keeps trying for as long as it takes.
public final class Link: Sendable {
    private let report: @Sendable (LinkEvent) -> Void
    private let receive: @Sendable (InboundMessage) -> Void
    let store: SharedStore
    private let shared: LinkShared
    /// Says to the link's thread that there is work.
    private let wake: Wake
    /// Signalled when the link's thread has ended.
    private let ended: Wake
    /// Signalled when there is something for the keeper: messages to keep, settled keys, room for back-fill after there
    /// was none, a connection that came or went. The keeper clears it.
    public let keeperWake: Wake

    /// - Parameters:
    ///   - report: called on the link's own thread with what happens to the connection; must not block.
    ///   - receive: called there with each message that comes in; must not block either.
    /// - Throws: settings that no connection can be made with.
    public init(
        options: LinkOptions, report: @escaping @Sendable (LinkEvent) -> Void,
        receive: @escaping @Sendable (InboundMessage) -> Void = { _ in }
    ) throws(MQTTError) {
        try options.check()
        shared = LinkShared(options)
        self.report = report
        self.receive = receive
        do throws(WakeError) {
            wake = try Wake()
            ended = try Wake()
            keeperWake = try Wake()
        } catch { throw MQTTError(error.description) }
        store = SharedStore(options: options, keeperWake: keeperWake)
    }

    /// Starts the link's thread. Once only.
    public func start() throws(MQTTError) {
        let options = shared.options
        let transport = MosquittoTransport(options: options)
        let core = LinkCore(
            options: options, store: store, transport: transport, random: .system, report: report, receive: receive)
        let thread = try LinkThread(core: core, transport: transport, wake: wake, shared: shared)
        let reason = DetachedThread.start("link") {
            thread.run()
            self.ended.signal()
        }
        if let reason { throw MQTTError("the link's thread cannot be started: \(reason)") }
    }

    /// Takes a message: its bytes are copied under a lock that is held for nothing else. Never waits for the network;
    /// what does not fit is dropped and counted. Does not touch the heap in the steady state.
    public func publish(_ header: PublicationHeader, _ payload: UnsafeRawBufferPointer) {
        let now = MonotonicClock.now()
        store.withLock { $0.put(header, payload, now: now) }
        signalWork()
    }

    /// Goes on with other options, at once and without losing anything that waits: an orderly good-bye to the old broker
    /// where there is one, then the new one, with pauses that begin anew. Nothing happens to the connection when nothing
    /// about it differs. Any thread may say this, also again while a change is under way: the last one counts.
    ///
    /// Not retained messages that wait are sent to the old broker while the good-bye lasts (at most 3 s), else to the new
    /// one, with the topics that they have. With another `base`, retained values move: they are emptied below the old one
    /// (the presence topic says `offline` there) and sent below the new one, where values also go that are still published
    /// below the old one. What the old broker could not be told before the connection was gone is sent later when the
    /// addresses of the brokers are still the same.
    ///
    /// The sizes of the queue and `keepsEssential` stay as they were made.
    /// - Returns: every connection with these options has a higher number (`LinkStatistics.connections`).
    /// - Throws: options that no connection can be made with; nothing has changed then.
    @discardableResult
    public func change(to options: LinkOptions) throws(MQTTError) -> UInt64 {
        try options.check()
        let number = shared.requestChange(options) { old, change in
            store.withLock {
                $0.retained.move(from: old.base, to: options.base, presence: old.presence.topic, change: change)
            }
        }
        signalWork()
        return number
    }

    /// Result that `change` with these options would have now, for a caller that saves a change before it makes it.
    public func number(ofChangeTo options: LinkOptions) -> UInt64 { shared.number(ofChangeTo: options) }

    /// Sends every retained value again, as after a connect with the same broker.
    /// - Returns: how many there are.
    public func sendRetainedAgain() -> Int {
        let count = store.withLock { store in
            store.retained.sendAllAgain(isKnown: true)
            store.queue.hasNews = true
            return store.retained.waitingCount
        }
        signalWork()
        return count
    }

    public var statistics: LinkStatistics { shared.statistics }

    /// Bytes of the packet of a message, never less than they are.
    public static func packetSize(_ header: PublicationHeader, payload: Int) -> Int {
        LinkCore.packetSize(header, payload: payload)
    }

    /// Sends what waits while time allows, says `offline`, and disconnects.
    /// - Parameter seconds: how long that may take.
    /// - Returns: true when the link's thread has ended in time; it cannot while it resolves a name or while the
    ///   kernel makes a first connection.
    public func stop(within seconds: Double) -> Bool {
        shared.requestStop(within: UInt64(max(0, seconds) * 1e9))
        signalWork()
        return ended.wait(milliseconds: Int32(max(0, min(seconds + 0.2, 1e6)) * 1000))
    }

    /// Tells the link's thread that there may be something to do.
    func signalWork() { wake.signal() }
}

/// Interface of the keeper, the agent's storage thread. The queue in memory stays the only one that the link sends
/// from; the keeper writes messages that must survive the process, and brings back those for which memory had no room.
///
/// With `LinkOptions.keepsEssential`, every essential message that is not retained waits for the keeper before it leaves,
/// at most 200 ms; other classes pass meanwhile. The keeper's round, whenever `keeperWake` is signalled and
/// otherwise now and then:
///
/// 1. clear `keeperWake`;
/// 2. `takeUnkept` until nil, write all of them in one transaction, then `markKept` (or `cannotKeep`) for each;
/// 3. `takeSettled`: delete what was delivered or refused, keep what was displaced or held for later;
/// 4. `withdraw` what has waited for long while there is no connection;
/// 5. `offerBackfill` the oldest from disk until it says false, without what may not be offered; from the first of those
///    again when `holdNumber` has changed.
///
/// Order: live messages keep theirs. When a kept message must leave memory for lack of room, the link turns `overflow`
/// on by itself, so that nothing newer overtakes it: all kept messages that wait leave memory as `displaced`, and so does
/// each that is kept from then on; they all come back as back-fill in the order of their keys, until the keeper, whose
/// disk holds nothing older any more, says `setOverflow(false)`. Only a message that could not be kept within 5 s leaves
/// before them.
///
/// Everything here may be called from any thread, takes the lock for the copy of one message, and touches the heap only
/// while the caller's buffers grow.
extension Link {
    /// The next message that nobody has kept yet, oldest first; nil: none. It stays where it is, and may be on its way
    /// already when the keeper was slow.
    /// - Parameter payload: emptied first.
    /// - Returns: `waited`: nanoseconds since it was published.
    public func takeUnkept(
        into payload: inout [UInt8]
    ) -> (header: PublicationHeader, waited: UInt64, ticket: KeepTicket)? {
        guard let (header, arrived, ticket) = store.withLock({ $0.queue.takeUnkept(into: &payload) }) else {
            return nil
        }
        let now = MonotonicClock.now()
        return (header, now - min(now, arrived), ticket)
    }

    /// The message is on disk under this key (above 0), which later calls know it by: it may leave now. Each ticket is
    /// answered once, with this or with `cannotKeep`, in the order in which they were taken.
    public func markKept(_ ticket: KeepTicket, key: Int64) -> KeepOutcome {
        let outcome = store.withLock { $0.queue.markKept(ticket, key: key) }
        if outcome == .waiting { signalWork() }
        return outcome
    }

    /// The disk does not take the message: it leaves at once, and is lost if the process ends before.
    public func cannotKeep(_ ticket: KeepTicket) {
        store.withLock { $0.queue.cannotKeep(ticket) }
        signalWork()
    }

    /// Keys of all that is in memory and on disk: what a new disk need not get from the old one.
    public func keptKeys() -> Set<Int64> { store.withLock { $0.queue.keptKeys } }

    /// Offers what is in memory to `takeUnkept` again, where it is not on disk.
    /// - Parameter all: the disk is another one: no key counts any more, and no settlement comes for one. Every ticket has to be
    ///   answered before.
    public func keepAgain(all: Bool) { store.withLock { $0.queue.keepAgain(all: all) } }

    /// Appends the keys whose fate has become known since the last call.
    public func takeSettled(into settled: inout [Settlement]) {
        store.withLock { $0.queue.takeSettled(into: &settled) }
    }

    /// A message from disk, to be sent with QoS 1 after everything that is live, in the order of the calls. Its header is
    /// the caller's, with topic, `isHistory`, and an expiry that has become shorter by the time on disk, or none. False
    /// when there is no room now (at most 32 messages and 256 KiB wait, or one of any size; a quarter of the queue stays
    /// free for live messages); `keeperWake` says when there may be. Ends with a settlement.
    public func offerBackfill(
        _ header: PublicationHeader, key: Int64, _ payload: UnsafeRawBufferPointer
    ) -> Bool {
        let now = MonotonicClock.now()
        let taken = store.withLock { $0.queue.offerBackfill(header, key: key, payload, now: now) }
        if taken { signalWork() }
        return taken
    }

    /// False while the broker refuses what goes to this topic; true once for a message that is to be tried. Where the
    /// broker could not take messages for the moment: false for those that it has refused.
    /// - Parameters:
    ///   - key: of the message on disk.
    ///   - isForTrial: it may be the one that is tried.
    public func mayOffer(_ header: PublicationHeader, key: Int64, isForTrial: Bool = true) -> Bool {
        store.withLock { $0.mayOffer(header, key: key, isForTrial: isForTrial) }
    }

    /// Changes when something may be offered that could not be before.
    public var holdNumber: UInt64 { store.withLock { $0.holds.number } }

    /// Takes the oldest message of the lower classes that is not retained and not on its way out of memory, for the disk.
    /// Not counted as dropped.
    /// - Parameters:
    ///   - nanoseconds: only one that has waited longer than this.
    ///   - payload: emptied first when there is one.
    /// - Returns: nil: there is none. `waited`: nanoseconds since it was published.
    public func withdraw(
        waitedLonger nanoseconds: UInt64, into payload: inout [UInt8]
    ) -> (header: PublicationHeader, waited: UInt64)? {
        let now = MonotonicClock.now()
        let limit = now - min(now, nanoseconds)
        guard let (header, arrived) = store.withLock({ $0.queue.withdraw(arrivedBefore: limit, into: &payload) })
        else { return nil }
        return (header, now - min(now, arrived))
    }

    /// With true, kept messages leave memory and go by way of the disk, in the order of their keys; with false, what is
    /// kept from now on is sent from memory again. The link says true by itself when it displaces a message. False is
    /// ignored while something essential has been displaced that the keeper has not heard of yet, or waits as back-fill:
    /// it is to be said again.
    public func setOverflow(_ on: Bool) {
        store.withLock { $0.queue.setOverflow(on) }
    }

    /// True while kept messages go by way of the disk.
    public var isOverflowing: Bool { store.withLock { $0.queue.isOverflowing } }
}

/// Names a message that the keeper has a copy of and has not yet said what became of it.
public struct KeepTicket: Sendable, Equatable {
    let slot: Int32
    let generation: UInt32
}

/// Next step of a message that is on disk now.
public enum KeepOutcome: Sendable, Equatable {
    /// It waits in memory or is on its way: a settlement with its key says how it ended.
    case waiting
    /// Its fate is known already, and no settlement follows: `displaced` is offered again from disk, everything else is
    /// deleted there (`onTrial` once the trial is passed).
    case settled(Settlement.Outcome)
}

/// How a message ended that is on disk.
public struct Settlement: Sendable, Equatable {
    public enum Outcome: Sendable, Equatable {
        /// The broker has it.
        case delivered
        /// The broker refused it with this reason (MQTT 5), or it is none that can be sent (144).
        case refused(Int)
        /// Larger than the broker takes: may be offered again when it takes more (`Link.holdNumber`).
        case tooLarge
        /// A connection broke over it, or it was dropped before it was kept.
        case abandoned
        /// Its topic is refused for now: to be offered again when that is over (`Link.mayOffer`).
        case held
        /// Memory has let it go, unsent or not known to have arrived: to be offered again as back-fill. Not lost, and not
        /// counted as dropped.
        case displaced
        /// It ended so with a broker that is on trial (`LinkOptions.trial`), which is for the keeper to judge.
        indirect case onTrial(Int, Outcome)

        /// The message need not be on the disk any more.
        public var isFinal: Bool {
            switch self {
            case .delivered, .refused: true
            case .tooLarge, .abandoned, .held, .displaced, .onTrial: false
            }
        }
    }

    /// As given to `markKept` or `offerBackfill`.
    public var key: Int64
    public var outcome: Outcome

    public init(key: Int64, outcome: Outcome) {
        self.key = key
        self.outcome = outcome
    }
}

/// Lets so many through per second on average, and a tenth of that at once. Pure: the time is passed in.
struct TokenBucket: Sendable, Equatable {
    private let perSecond: Double
    private let capacity: Double
    private var tokens: Double
    private var last: UInt64 = 0

    /// - Parameter perSecond: 0 lets nothing through.
    init(perSecond: Double) {
        self.perSecond = max(0, perSecond)
        capacity = max(1, perSecond / 10)
        tokens = perSecond > 0 ? capacity : 0
    }

    /// True, and one less, when one may pass now (ns).
    mutating func take(now: UInt64) -> Bool {
        tokens = min(capacity, tokens + Double(now - min(now, last)) / 1e9 * perSecond)
        last = max(last, now)
        // Slightly less than one: sums of fractions never reach it exactly.
        guard tokens >= 0.999_999 else { return false }
        tokens = max(0, tokens - 1)
        return true
    }

    /// When the next may pass (ns); nil: never. To be asked after `take` has said no.
    var next: UInt64? {
        guard perSecond > 0 else { return nil }
        return last + UInt64((1 - min(1, tokens)) / perSecond * 1e9) + 1
    }
}

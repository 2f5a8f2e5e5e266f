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

import CLinux
import Glibc
import Platform

/// The thread that owns the libmosquitto handle: an epoll loop over the broker's socket, an eventfd that says that
/// there is work, and a timerfd for everything with a time.
final class LinkThread {
    private let core: LinkCore
    private let transport: MosquittoTransport
    private let wake: Wake
    private let shared: LinkShared
    private let epoll: Int32
    private let timer: Int32
    /// The socket that epoll watches.
    private var watched: Int32 = -1
    private var nextTick: UInt64 = 0
    /// While an attempt waits for the peer, a writable socket says nothing new: it is looked at again then (ns).
    private var writeAgain: UInt64 = 0

    private static let second: UInt64 = 1_000_000_000

    init(core: LinkCore, transport: MosquittoTransport, wake: Wake, shared: LinkShared) throws(MQTTError) {
        self.core = core
        self.transport = transport
        self.wake = wake
        self.shared = shared
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        timer = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK))
        guard epoll >= 0, timer >= 0 else {
            throw MQTTError("epoll or timerfd is not available: \(String(cString: strerror(errno)))")
        }
        control(EPOLL_CTL_ADD, wake.descriptor, EPOLLIN.rawValue)
        control(EPOLL_CTL_ADD, timer, EPOLLIN.rawValue)
    }

    deinit {
        close(epoll)
        close(timer)
    }

    /// Runs until an orderly stop is over.
    func run() {
        while true {
            let now = MonotonicClock.now()
            if let (options, change) = shared.takeChange() {
                core.handle(.change(.init(options, number: change)), now: now)
            }
            if let stop = shared.takeStopRequest() { core.handle(.stop(within: stop), now: now) }
            if now >= nextTick {
                transport.tick()
                nextTick = now + Self.second
            }
            core.step(now: now)
            // What was just handed over goes out without waiting for the socket to say that it is writable.
            transport.checkSocket()
            core.step(now: now)
            shared.publish(core.statistics)
            if core.life.isStopped { return }
            watchSocket(now)
            arm(min(core.deadline ?? .max, nextTick, watchedAgain))
            wait()
        }
    }

    private var watchedAgain: UInt64 { writeAgain > 0 ? writeAgain : .max }

    private func wait() {
        var ready = [epoll_event](repeating: epoll_event(), count: 3)
        let count = epoll_wait(epoll, &ready, 3, -1)
        guard count > 0 else { return }
        for index in 0..<Int(count) {
            let event = ready[index]
            switch event.data.fd {
            case wake.descriptor: wake.clear()
            case timer:
                var count: UInt64 = 0
                _ = read(timer, &count, MemoryLayout<UInt64>.size)
            default:
                let mask = event.events
                transport.socketReady(
                    readable: mask & EPOLLIN.rawValue != 0,
                    error: mask & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0)
                if mask & EPOLLOUT.rawValue != 0, !core.life.isUp {
                    writeAgain = MonotonicClock.now() + Self.second / 50
                }
            }
        }
    }

    private func watchSocket(_ now: UInt64) {
        let socket = transport.socket
        if socket < 0 {
            if watched >= 0 { control(EPOLL_CTL_DEL, watched, 0) }
            (watched, writeAgain) = (-1, 0)
            return
        }
        if now >= writeAgain { writeAgain = 0 }
        var events = EPOLLIN.rawValue
        if transport.wantsWrite, writeAgain == 0 || core.life.isUp { events |= EPOLLOUT.rawValue }
        if core.life.isUp { writeAgain = 0 }
        // A new socket may have the number of the old one, which epoll forgot when it was closed.
        if socket != watched || control(EPOLL_CTL_MOD, socket, events) != 0 {
            control(EPOLL_CTL_ADD, socket, events)
        }
        watched = socket
    }

    @discardableResult
    private func control(_ operation: Int32, _ descriptor: Int32, _ events: UInt32) -> Int32 {
        var event = epoll_event()
        event.events = events
        event.data.fd = descriptor
        return epoll_ctl(epoll, operation, descriptor, &event)
    }

    private func arm(_ time: UInt64) {
        var setting = itimerspec()
        if time != .max {
            setting.it_value.tv_sec = Int(time / Self.second)
            setting.it_value.tv_nsec = max(1, Int(time % Self.second))
        }
        _ = timerfd_settime(timer, Int32(TFD_TIMER_ABSTIME), &setting, nil)
    }
}

/// State that the owner thread and the others share besides the messages.
final class LinkShared: Sendable {
    private struct State {
        var statistics = LinkStatistics()
        var stopWithin: UInt64?
        /// The last ones that were asked for.
        var options: LinkOptions
        /// Changes that need another connection.
        var changes: UInt64 = 0
        var isChanged = false

        func changes(with new: LinkOptions) -> UInt64 { changes + (options.needsNewConnection(for: new) ? 1 : 0) }
    }
    private let state: Mutex<State>

    init(_ options: LinkOptions) { state = Mutex(State(options: options)) }

    var options: LinkOptions { state.withLock { $0.options } }

    /// - Parameter move: called with the options before and the number of the change, while no other change can come
    ///   between.
    /// - Returns: below the numbers of all connections with these options.
    func requestChange(_ options: LinkOptions, move: (LinkOptions, UInt64) -> Void) -> UInt64 {
        state.withLock { state in
            state.changes = state.changes(with: options)
            move(state.options, state.changes)
            state.options = options
            state.isChanged = true
            return LinkCore.connectionNumber(change: state.changes, connects: 0)
        }
    }

    /// Result that `requestChange` would have.
    func number(ofChangeTo options: LinkOptions) -> UInt64 {
        state.withLock { LinkCore.connectionNumber(change: $0.changes(with: options), connects: 0) }
    }

    func takeChange() -> (LinkOptions, UInt64)? {
        state.withLock { state in
            guard state.isChanged else { return nil }
            state.isChanged = false
            return (state.options, state.changes)
        }
    }

    func publish(_ statistics: LinkStatistics) { state.withLock { $0.statistics = statistics } }
    var statistics: LinkStatistics { state.withLock { $0.statistics } }
    func requestStop(within nanoseconds: UInt64) { state.withLock { $0.stopWithin = nanoseconds } }
    func takeStopRequest() -> UInt64? {
        state.withLock { state in
            defer { state.stopWithin = nil }
            return state.stopWithin
        }
    }
}

enum MonotonicClock {
    /// Nanoseconds since some moment before the process began.
    static func now() -> UInt64 { UInt64(HostClock.monotonic()) }
}

import Glibc
import Messages
import Platform
import Settings
import Station
import Vibration

/// Finds natural modes from the motion that the sampling thread hands out, in a thread of its own before which
/// every other comes: nothing waits for it. It is there from the first time on that the settings want modes.
final class ModesThread: Sendable {
    private struct State {
        var blocks: [MotionBlock] = []
        /// Settings that have not been taken yet.
        var settings: (vibration: VibrationConfiguration, topics: Topics)?
        var isRunning = false
        var lost = 0
    }

    /// Pieces that wait; each is 20 s or more.
    private static let limit = 16

    private let state = Mutex(State())
    private let wake: Wake
    private let mustStop = Atomic<Bool>(false)
    private let boot: String
    private let status: SamplingStatus
    private let past: Mailbox<FollowedModes>
    private let publish: @Sendable (PublicationHeader, UnsafeRawBufferPointer) -> Void

    /// - Parameters:
    ///   - past: modes of earlier runs, as soon as they have been read.
    ///   - publish: called in the thread.
    init(
        boot: String, status: SamplingStatus, past: Mailbox<FollowedModes> = Mailbox(),
        publish: @escaping @Sendable (PublicationHeader, UnsafeRawBufferPointer) -> Void
    ) throws(AgentError) {
        (self.boot, self.status, self.past, self.publish) = (boot, status, past, publish)
        wake = try .make()
    }

    /// Other settings are in force. Those of the modes do not begin a period anew that they do not concern.
    /// - Returns: whether modes are wanted.
    func take(_ configuration: Configuration) -> Bool {
        guard configuration.vibration.modes,
            let topics = try? Topics(root: configuration.mqtt.root, id: configuration.station.id)
        else { return false }
        let starts = state.withLock { state -> Bool in
            state.settings = (configuration.vibration, topics)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        // (It ends the period under way where these concern it.)
        wake.signal()
        guard starts else { return true }
        guard DetachedThread.start("modes", { self.run() }) == nil else {
            // (The next change tries again.)
            state.withLock { $0.isRunning = false }
            return false
        }
        return true
    }

    /// Takes the next piece; the oldest goes where nobody fetches them.
    func put(_ block: MotionBlock) {
        state.withLock { state in
            state.blocks.append(block)
            guard state.blocks.count > Self.limit else { return }
            state.blocks.removeFirst()
            state.blocks[0].continues = false
            state.lost += 1
        }
        wake.signal()
    }

    /// Pieces that nobody has fetched yet.
    var waiting: Int { state.withLock { $0.blocks.count } }

    func stop() {
        mustStop.store(true, ordering: .releasing)
        wake.signal()
    }

    private func run() {
        // (A thread has the real-time priority of the one that starts it.) 3 is SCHED_BATCH: who wakes up comes first.
        var parameters = sched_param(sched_priority: 0)
        if pthread_setschedparam(pthread_self(), 3, &parameters) != 0 {
            _ = pthread_setschedparam(pthread_self(), SCHED_OTHER, &parameters)
        }
        var tracker: ModesTracker?
        var inForce: (modes: [Double], topics: Topics)?
        while !mustStop.load(ordering: .acquiring) {
            let (blocks, settings) = state.withLock { state in
                defer { (state.blocks, state.settings) = ([], nil) }
                return (state.blocks, state.settings)
            }
            if let settings {
                let vibration = settings.vibration
                let modes = [Double(vibration.modesPeriod), vibration.modesTop]
                if inForce?.modes != modes || inForce?.topics != settings.topics {
                    var other = ModesTracker(vibration, topics: settings.topics, boot: boot)
                    tracker?.finish(quality: status.clockQuality, to: publish)
                    if let tracker { other.takeOver(tracker) }
                    (tracker, inForce) = (other, (modes, settings.topics))
                }
            }
            if tracker != nil, let past = past.take() { tracker?.goOn(from: past) }
            for block in blocks {
                tracker?.take(
                    block, temperature: status.condition?.temperature, quality: status.clockQuality, to: publish)
            }
            if blocks.isEmpty, wake.wait(milliseconds: 60_000) { wake.clear() }
        }
    }
}

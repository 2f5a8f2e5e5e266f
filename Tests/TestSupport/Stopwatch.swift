import Foundation
import Platform

/// Real time since it was made, for upper bounds: without what the machine stood still meanwhile, as a thread beside notes
/// that was woken more than 10 ms late, and divided by `patience`. (deploy/checks/mqtt.d/stalls.py does so for the checks.)
public final class Stopwatch: Sendable {
    private final class Clock: Sendable {
        /// Seconds.
        let stalled = Mutex(0.0)
        let ended = Atomic(false)

        func run() {
            while !ended.load(ordering: .relaxed) {
                let before = ProcessInfo.processInfo.systemUptime
                usleep(2000)
                let late = ProcessInfo.processInfo.systemUptime - before - 0.002
                if late > 0.01 { stalled.withLock { $0 += late } }
            }
        }
    }
    private let clock = Clock()
    private let began = ProcessInfo.processInfo.systemUptime

    public init() { Thread.detachNewThread { [clock] in clock.run() } }

    deinit { clock.ended.store(true, ordering: .relaxed) }

    public var seconds: Double {
        (ProcessInfo.processInfo.systemUptime - began - clock.stalled.withLock { $0 }) / patience
    }
}

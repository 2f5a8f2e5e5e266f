import CLinux
import Glibc
import Messages
import Settings
import Threads

/// Owns the GPIO line of the alarm, and the button that silences it: a thread of its own, so that neither a bus that hangs
/// nor a slow disk keeps an alarm on or off. The line is claimed through the kernel's interface (linux/gpio.h, uAPI v2); it
/// is released, and so off, as soon as the process ends in whatever way.
final class AlarmThread: Sendable {
    /// Pause before a line that could not be had is tried again (ms).
    private static let pause = 5000
    /// As the thread that samples: the service allows no more.
    private static let priority: Int32 = 40

    /// What commands ask: `silence`, `alarm-test`.
    let orders: OrderBook
    private let settings: AlarmConfiguration.Output
    private let log: Log
    private let raised = Atomic<Bool>(false)
    private let mustStop = Atomic<Bool>(false)
    private let words = Mutex<String?>(nil)
    private let wake: Wake
    private let ended: Wake

    /// - Parameter answered: of the thread that takes the outcomes of ``orders``.
    init(_ settings: AlarmConfiguration.Output, log: Log, answered: Wake?) throws(AgentError) {
        (self.settings, self.log) = (settings, log)
        wake = try .make()
        ended = try .make()
        orders = OrderBook(answered: answered, wake: wake)
    }

    /// What is wrong with the line; nil: it works.
    var problem: String? { words.withLock { $0 } }

    /// There is an alarm. No lock, no allocation.
    func raise() {
        raised.store(true, ordering: .releasing)
        wake.signal()
    }

    func start() throws(AgentError) {
        if let reason = DetachedThread.start("alarm", { self.run() }) {
            throw AgentError("the alarm thread cannot be started: \(reason)")
        }
    }

    /// Releases the line.
    func stop(within seconds: Double) {
        mustStop.store(true, ordering: .releasing)
        wake.signal()
        _ = ended.wait(milliseconds: Int32(max(0, min(seconds, 60)) * 1000))
    }

    /// One alarm or test after the other.
    private struct Course {
        var signal: AlarmSignal
        var isOn = false
        var due: Int64?
        /// The number of the order for the test that is played, its pattern, and steps at which the line did not follow.
        var testing: (number: Int, pattern: String, wrong: Int)?
    }

    private func run() {
        defer { ended.signal() }
        var parameters = sched_param(sched_priority: Self.priority)
        _ = pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters)
        var course = Course(signal: AlarmSignal(duration: Int64(settings.seconds * 1e9)))
        var (line, button): (Int32, Int32) = (-1, -1)
        defer {
            // Some chips hold the last level of a line that is nobody's.
            if line >= 0 { _ = clinux_gpio_set(line, 0) }
            for file in [line, button] where file >= 0 { close(file) }
        }
        while !mustStop.load(ordering: .acquiring) {
            if line < 0 { line = claim(settings.line, isOutput: true) }
            if line >= 0, button < 0, !settings.button.isEmpty { button = claim(settings.button, isOutput: false) }
            let isComplete = line >= 0 && (button >= 0 || settings.button.isEmpty)
            if isComplete { words.withLock { $0 = nil } }
            let left = course.due.map { max(0, $0 - HostClock.monotonic()) }
            let wait = left.map { Int32(clamping: ($0 + 999_999) / 1_000_000) } ?? (isComplete ? -1 : Int32(Self.pause))
            var waited = [wake.descriptor, button].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            _ = poll(&waited, 2, wait)
            if waited[0].revents != 0 { wake.clear() }
            if waited[1].revents != 0, !takeButton(button) {
                close(button)
                button = -1
            } else if waited[1].revents != 0, course.signal.silence() {
                log.notice("alarm silenced by the button")
            }
            take(&course)
            if !set(line, &course) {
                close(line)
                line = -1
            }
        }
        answerTest(&course, .failed(CodedError("", .unavailable, "the agent ends")))
        for (number, _) in orders.takeOrders() {
            orders.answer(number, .failed(CodedError("", .unavailable, "the agent ends")))
        }
    }

    /// - Returns: the line's file; −1 when it cannot be had.
    private func claim(_ text: String, isOutput: Bool) -> Int32 {
        let parts = text.split(separator: ":")
        guard parts.count == 2, let number = UInt32(parts[1]) else { return -1 }
        let chip = open("/dev/" + parts[0], O_RDWR | O_CLOEXEC)
        var code = -errno
        if chip >= 0 {
            let isLow = settings.active == .low
            code = isOutput ? clinux_gpio_output(chip, number, isLow ? 1 : 0) : clinux_gpio_button(chip, number)
            close(chip)
        }
        guard code < 0 else { return code }
        let why = code == -EBUSY ? "in use by another process" : String(cString: strerror(-code))
        words.withLock { $0 = "GPIO line \(text): \(why)" }
        return -1
    }

    /// - Returns: false when the line is gone.
    private func takeButton(_ button: Int32) -> Bool {
        var (time, events): (UInt64, UInt32) = (0, 0)
        return clinux_gpio_wait(button, 0, &time, &events) >= 0
    }

    /// What has been asked for.
    private func take(_ course: inout Course) {
        let now = HostClock.monotonic()
        if raised.exchange(false, ordering: .acquiring) {
            course.signal.raise(now: now)
            answerTest(&course, .failed(CodedError("", .unavailable, "an alarm ended the test")))
        }
        guard orders.hasOrders else { return }
        for (number, order) in orders.takeOrders() {
            switch order {
            case .silence:
                let was = course.signal.silence()
                answerTest(&course, .failed(CodedError("", .unavailable, "silenced")))
                orders.answer(number, .done(["silenced": .bool(was)]))
            case .alarmTest(let pattern, let step):
                if let problem {
                    orders.answer(number, .failed(CodedError("", .unavailable, problem)))
                } else if course.signal.begin(pattern.utf8.map { $0 == UInt8(ascii: "1") }, step: step, now: now) {
                    course.testing = (number, pattern, 0)
                    orders.answer(number, .began(["pattern": .string(pattern)]))
                } else {
                    orders.answer(number, .failed(CodedError("", .busy, "an alarm or a test is under way")))
                }
            default: orders.answer(number, .failed(CodedError("", .internal, "not an order for this thread")))
            }
        }
    }

    /// Brings the line to what it is to be; false when it cannot be set.
    private func set(_ line: Int32, _ course: inout Course) -> Bool {
        let (isOn, due, ended) = course.signal.advance(now: HostClock.monotonic())
        course.due = due
        guard line >= 0 else { return true }
        let isLive = clinux_gpio_set(line, isOn ? 1 : 0) == 0
        if course.testing != nil, clinux_gpio_get(line) != (isOn ? 1 : 0) { course.testing?.wrong += 1 }
        if isOn != course.isOn, course.testing == nil {
            log.notice(isOn ? "ALARM: the line is on" : "the alarm's line is off")
        }
        course.isOn = isOn
        if ended, let test = course.testing {
            let error = CodedError("", .unavailable, "the line did not follow at \(test.wrong) steps: is it shorted?")
            answerTest(&course, test.wrong > 0 ? .failed(error) : .done(["pattern": .string(test.pattern)]))
        }
        if !isLive {
            words.withLock { $0 = "GPIO line \(settings.line) cannot be set: \(String(cString: strerror(errno)))" }
        }
        return isLive
    }

    private func answerTest(_ course: inout Course, _ outcome: OrderOutcome) {
        guard let test = course.testing else { return }
        course.testing = nil
        orders.answer(test.number, outcome)
    }
}

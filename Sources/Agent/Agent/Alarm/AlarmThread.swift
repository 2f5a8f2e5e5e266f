import CLinux
import Commands
import Glibc
import Messages
import Platform
import Settings
import Warning

/// Owns the GPIO line of the alarm, and the button that silences it: a thread of its own, so that neither a bus that hangs
/// nor a slow disk keeps an alarm on or off. The line is claimed through the kernel's interface (linux/gpio.h, uAPI v2); it
/// is released, and so off, as soon as the process ends in whatever way.
final class AlarmThread: Sendable {
    /// As the thread that samples: the service allows no more.
    private static let priority: Int32 = 40

    /// Orders from commands: `silence`, `alarm-test`.
    let orders: OrderBook<AlarmOrder>
    private let settings: AlarmConfiguration.Output
    private let log: Log
    private let raised = Atomic<Bool>(false)
    private let mustStop = Atomic<Bool>(false)
    /// Wanted state of the line for a warning; the outer nil: as before.
    private let warning = Mutex<NetworkWarning.Line??>(nil)
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

    /// Fault of the line; nil: it works.
    var problem: String? { words.withLock { $0 } }

    /// There is an alarm. No lock, no allocation.
    func raise() {
        raised.store(true, ordering: .releasing)
        wake.signal()
    }

    /// There is a warning, with another end, or none any more.
    func warn(_ line: NetworkWarning.Line?) {
        warning.withLock { $0 = .some(line) }
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

    /// The lines of this thread, through the kernel.
    private struct Lines: AlarmLines {
        let thread: AlarmThread
        var output: Int32 = -1
        var button: Int32 = -1

        mutating func claimOutput() -> Bool {
            output = thread.claim(thread.settings.line, isOutput: true)
            return output >= 0
        }

        mutating func claimButton() -> Bool {
            button = thread.claim(thread.settings.button, isOutput: false)
            return button >= 0
        }

        mutating func set(_ isOn: Bool) -> Bool {
            let code = clinux_gpio_set(output, isOn ? 1 : 0)
            guard code < 0 else { return true }
            close(output)
            output = -1
            thread.complain("GPIO line \(thread.settings.line) cannot be set: \(String(cString: strerror(-code)))")
            return false
        }

        mutating func loseButton() {
            close(button)
            button = -1
            thread.complain("GPIO line \(thread.settings.button) is gone")
        }

        mutating func release() {
            // Some chips hold the last level of a line that is nobody's.
            if output >= 0 { _ = clinux_gpio_set(output, 0) }
            for file in [output, button] where file >= 0 { close(file) }
        }
    }

    /// The order for the test that is played.
    private struct Testing {
        let number: Int
        let pattern: String
        /// Steps at which the line did not follow, and when the last of them was to end.
        var wrong = 0
        var wrongUntil: Int64?
    }

    private func run() {
        defer { ended.signal() }
        var parameters = sched_param(sched_priority: Self.priority)
        _ = pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters)
        var course = AlarmCourse(duration: Int64(settings.seconds * 1e9), hasButton: !settings.button.isEmpty)
        var testing: Testing?
        var wasWarning = false
        var lines = Lines(thread: self)
        defer { lines.release() }
        while !mustStop.load(ordering: .acquiring) {
            take(&course, &testing)
            let step = course.step(now: HostClock.monotonic(), &lines)
            tell(step, course, lines.output, wasWarning: wasWarning, &testing)
            wasWarning = course.signal.isWarning && course.output.isHeld
            if course.isComplete { words.withLock { $0 = nil } }
            let left = max(0, step.next - HostClock.monotonic())
            var waited = [wake.descriptor, lines.button].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            _ = poll(&waited, 2, Int32(clamping: (left + 999_999) / 1_000_000))
            if waited[0].revents != 0 { wake.clear() }
            guard waited[1].revents != 0 else { continue }
            if !takeButton(lines.button) {
                lines.loseButton()
                course.loseButton(now: HostClock.monotonic())
            } else if course.silence() {
                log.notice("alarm silenced by the button")
            }
        }
        answerTest(&testing, .failed(CodedError("", .unavailable, "the agent ends")))
        for (number, _) in orders.takeOrders() {
            orders.answer(number, .failed(CodedError("", .unavailable, "the agent ends")))
        }
    }

    private func complain(_ text: String) { words.withLock { $0 = text } }

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
        complain("GPIO line \(text): \(why)")
        return -1
    }

    /// - Returns: false when the line is gone.
    private func takeButton(_ button: Int32) -> Bool {
        var (time, events): (UInt64, UInt32) = (0, 0)
        return clinux_gpio_wait(button, 0, &time, &events) >= 0
    }

    /// Takes the orders that have come.
    private func take(_ course: inout AlarmCourse, _ testing: inout Testing?) {
        let now = HostClock.monotonic()
        if raised.exchange(false, ordering: .acquiring) {
            course.raise(now: now)
            answerTest(&testing, .failed(CodedError("", .unavailable, "an alarm ended the test")))
        }
        if let line = warning.withLock({ $0.take() }) {
            course.warn(line?.number ?? 0, until: line?.until, now: now)
            if course.signal.isWarning {
                answerTest(&testing, .failed(CodedError("", .unavailable, "a warning ended the test")))
            }
        }
        guard orders.hasOrders else { return }
        for (number, order) in orders.takeOrders() {
            switch order {
            case .silence:
                let was = course.silence()
                answerTest(&testing, .failed(CodedError("", .unavailable, "silenced")))
                orders.answer(number, .done(["silenced": .bool(was)]))
            case .test(let wanted, let step):
                let pattern = wanted ?? Self.randomPattern()
                let bits = pattern.utf8.map { $0 == UInt8(ascii: "1") }
                if let problem {
                    orders.answer(number, .failed(CodedError("", .unavailable, problem)))
                } else if course.begin(bits, step: Int64(step * 1e9), now: now) {
                    testing = Testing(number: number, pattern: pattern)
                    orders.answer(number, .began(["pattern": .string(pattern)]))
                } else {
                    orders.answer(number, .failed(CodedError("", .busy, "an alarm or a test is under way")))
                }
            }
        }
    }

    /// Begins with 1, so that something is heard.
    private static func randomPattern() -> String { String(UInt64.random(in: 0x8000...0xFFFF), radix: 2) }

    /// Reports the result of a step to the log and to the sender of a test.
    private func tell(
        _ step: AlarmCourse.Step, _ course: AlarmCourse, _ line: Int32, wasWarning: Bool, _ testing: inout Testing?
    ) {
        let isWarning = course.signal.isWarning && course.output.isHeld
        if wasWarning != isWarning {
            let ended = step.isWanted ? "ALARM: the line is on" : "the warning is over"
            log.notice(isWarning ? "WARNING: the line sounds" : ended)
        } else if testing == nil, !isWarning, let isOn = step.turned {
            if isOn {
                log.notice("ALARM: the line is on")
            } else if step.isWanted {
                log.warning("ALARM: the line is lost")
            } else {
                log.notice("the alarm's line is off")
            }
        }
        guard var test = testing else { return }
        let isWrong = line < 0 || clinux_gpio_get(line) != (step.isWanted ? 1 : 0)
        if isWrong, test.wrong == 0 || test.wrongUntil != step.due {
            test.wrong += 1
            test.wrongUntil = step.due
        }
        testing = test
        guard step.ended else { return }
        let error = CodedError("", .unavailable, "the line did not follow at \(test.wrong) steps: is it shorted?")
        answerTest(&testing, test.wrong > 0 ? .failed(error) : .done(["pattern": .string(test.pattern)]))
    }

    private func answerTest(_ testing: inout Testing?, _ outcome: OrderOutcome) {
        guard let test = testing else { return }
        testing = nil
        orders.answer(test.number, outcome)
    }
}

import Commands
import Glibc
import Link
import Messages

/// What commands ask of the agent.
extension Dispatcher {
    mutating func carryOut(_ request: CommandRequest, _ reporter: inout Reporter) {
        switch request.decision(context(reporter)) {
        case .reply(let result): say(request, .done, revision: reporter.revision, result: result)
        case .refuse(let errors): fail(request, revision: reporter.revision, errors)
        case .effect(let effect): perform(effect, request, &reporter)
        }
    }

    private func context(_ reporter: Reporter) -> CommandContext {
        CommandContext(
            revision: reporter.revision, boot: boot, uptime: Double(HostClock.monotonic() - started) / 1e9,
            wall: HostClock.wall(), topics: topics,
            rate: status.now.sensor?.rate ?? reporter.inForce.sensor.rate, alerts: reporter.activeAlerts,
            clock: { HostStatus.clock() ?? (TimeQuality(synced: false, source: .free), nil) },
            status: reporter.statusNow)
    }

    private mutating func perform(_ effect: CommandEffect, _ request: CommandRequest, _ reporter: inout Reporter) {
        let revision = reporter.revision
        switch effect {
        case .change, .confirm, .configGet: settings(effect, request, &reporter)
        case .rebirth:
            reporter.sayAllAgain()
            say(
                request, .done, revision: revision,
                result: ["topics": .int(Int64(link.sendRetainedAgain()))])
        case .log(let level, let seconds):
            let wait = Int64(seconds * 1e9)
            log.control.relay(level, until: HostClock.monotonic() + wait, wake: inbox.wake)
            say(
                request, .done, revision: revision,
                result: ["until": .string(Timestamp(nanoseconds: HostClock.wall() + wait).description)])
        case .restart:
            say(request, .done, revision: revision)
            course = .restart
        case .resetExtremes: order(.resetExtremes, sampling, request, revision)
        case .testEvent: order(.testEvent, sampling, request, revision)
        case .calibrate(let seconds): order(.calibrate(seconds: seconds), sampling, request, revision)
        case .selfTest: order(.selfTest, sampling, request, revision)
        case .stream(let traces, let seconds): order(.stream(traces, seconds: seconds), sampling, request, revision)
        case .endStream: order(.endStream, sampling, request, revision)
        case .silence: orderAlarm(.silence, request, revision)
        case .alarmTest(let pattern, let step):
            // Begins with 1, so that something is heard.
            let bits = String(0x8000 | random.next() & 0x7FFF, radix: 2)
            orderAlarm(.alarmTest(pattern ?? bits, step: Int64(step * 1e9)), request, revision)
        case .snapshot(let from, let to, let topic):
            order(.snapshot(from: from, to: to, topic: topic), storage.orders, request, revision)
        case .stored(let query):
            order(.stored(query, room: resultRoom(request)), storage.orders, request, revision)
        case .confirmEvent(let confirmation):
            guard reporter.inForce.detection.event.confirmation else {
                return fail(request, revision: revision, [.takesNoConfirmation])
            }
            // The open event is marked by the thread that has it; what is kept is the reply's business.
            lastOrder += 1
            sampling?.put(.confirm(confirmation), number: lastOrder)
            order(.stored(.confirm(confirmation)), storage.orders, request, revision)
        }
    }

    // MARK: Orders

    private mutating func orderAlarm(_ order: StationOrder, _ request: CommandRequest, _ revision: Int) {
        guard let book = alarm else {
            return fail(
                request, revision: revision,
                [CodedError("", .unavailable, "This station has no alarm line: set alarm.gpio.line in its file.")])
        }
        self.order(order, book, request, revision)
    }

    /// Gives an order; its outcome is the reply.
    mutating func order(
        _ order: StationOrder, _ book: OrderBook?, _ request: CommandRequest, _ revision: Int
    ) {
        guard let book else {
            return fail(
                request, revision: revision,
                [CodedError("", .unavailable, "This station has no thread that samples: it cannot do this.")])
        }
        // What takes long, or much room, is not piled up.
        let underWay = ordered.values.count { $0.command == request.command }
        guard underWay < request.command.most else {
            return fail(
                request, revision: revision,
                [
                    CodedError(
                        "", .busy, "Another `\(request.command.name)` is under way: ask again when it has ended.",
                        allowed: "\(request.command.most) at a time")
                ])
        }
        lastOrder += 1
        guard book.put(order, number: lastOrder) else {
            return fail(
                request, revision: revision, [CodedError("", .busy, "Too many commands are waiting: ask again later.")])
        }
        ordered[lastOrder] = request
    }

    mutating func take(_ number: Int, _ outcome: OrderOutcome, _ reporter: inout Reporter) {
        if let (change, step) = changeOrder, change == number { return take(outcome, of: step, &reporter) }
        guard let request = ordered[number] else { return }
        if case .began = outcome {} else { ordered[number] = nil }
        switch outcome {
        case .began(let result): say(request, .accepted, revision: reporter.revision, result: result)
        case .done(let result):
            if request.command == .calibrate { reporter.keep(calibration: result) }
            say(request, .done, revision: reporter.revision, result: result)
        case .partly(let result):
            say(request, .done, revision: reporter.revision, result: result, isIncomplete: true)
        case .made(let result): say(request, .done, revision: reporter.revision, made: result)
        case .failed(let error): fail(request, revision: reporter.revision, [error])
        }
    }
}

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
            rate: status.now.sensor?.rate ?? reporter.inForce.sensor.rate,
            takesConfirmations: reporter.inForce.detection.event.confirmation, alerts: reporter.activeAlerts,
            clock: { HostStatus.clock() ?? (TimeQuality(synced: false, source: .free), nil) },
            status: reporter.statusNow)
    }

    /// Gives an owner what is asked of it.
    private mutating func perform(_ effect: CommandEffect, _ request: CommandRequest, _ reporter: inout Reporter) {
        let revision = reporter.revision
        switch effect {
        case .settings(let order): settings(order, request, &reporter)
        case .main(let order): carryOut(order, request, &reporter)
        case .sampling(let work): order(.command(work), sampling, request, revision)
        case .alarm(let work):
            order(
                work, alarm, request, revision,
                without: "This station has no alarm line: set alarm.gpio.line in its file.")
        case .storage(let work):
            order(StorageThread.Order(work, room: resultRoom(request)), storage.orders, request, revision)
        case .both(let work, let kept):
            lastOrder += 1
            sampling?.put(.command(work), number: lastOrder)
            order(StorageThread.Order(kept, room: resultRoom(request)), storage.orders, request, revision)
        }
    }

    /// What the main thread does itself.
    private mutating func carryOut(_ order: MainOrder, _ request: CommandRequest, _ reporter: inout Reporter) {
        let revision = reporter.revision
        switch order {
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
        case .logTail(let count, let level):
            // (Of what stands around the lines: a number.)
            let room = (resultRoom(request) ?? 262_144) - 50
            let (lines, others) = log.control.last(count, from: level, room: room)
            let list = Array(lines.joined(separator: ",".utf8))
            let bytes = Array("{\"lines\":[".utf8) + list + Array("],\"others\":\(others)}".utf8)
            say(request, .done, revision: revision, made: ReplyResult(bytes: bytes, isCBOR: false))
        case .restart:
            say(request, .done, revision: revision)
            course = .restart
        }
    }

    /// Gives another thread an order; its outcome is the reply.
    /// - Parameter without: what is said where there is no such thread.
    private mutating func order<Order>(
        _ order: Order, _ book: OrderBook<Order>?, _ request: CommandRequest, _ revision: Int,
        without: String = "This station has no thread that samples: it cannot do this."
    ) {
        guard let book else {
            return fail(request, revision: revision, [CodedError("", .unavailable, without)])
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

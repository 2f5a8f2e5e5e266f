import Glibc
import Link
import Messages
import Settings

/// What each verb does.
extension Dispatcher {
    mutating func carryOut(_ request: CommandRequest, _ reporter: inout Reporter) {
        let revision = reporter.revision
        switch request.action {
        case .ping:
            let uptime = Double(HostClock.monotonic() - started) / 1e9
            say(
                request, .done, revision: revision,
                result: [
                    "version": .string(productVersion), "boot": .string(boot),
                    "uptime_s": .double((uptime * 1000).rounded() / 1000),
                ])
        case .alerts:
            say(
                request, .done, revision: revision,
                result: ["alerts": .array(reporter.activeAlerts.map(\.value))])
        case .status: say(request, .done, revision: revision, result: reporter.statusNow())
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
        case .stream(let fields, let seconds): stream(fields, seconds, request, &reporter)
        case .snapshot(let span): snapshot(span, request, revision)
        case .change, .confirm, .configGet: settings(request, &reporter)
        }
    }

    // MARK: Orders

    /// Gives an order; its outcome is the reply.
    mutating func order(
        _ order: StationOrder, _ book: OrderBook?, _ request: CommandRequest, _ revision: Int
    ) {
        guard let book else {
            return fail(
                request, revision: revision, [CodedError("", .unavailable, "This station cannot do that.")])
        }
        // What takes long, or much room, is not piled up.
        let most = [Verb.selftest: 1, .snapshot: Self.snapshotLimit][request.verb] ?? .max
        let underWay = ordered.values.count { $0.verb == request.verb }
        guard underWay < most else {
            return fail(
                request, revision: revision,
                [
                    CodedError(
                        "", .busy, "Another `\(request.verb.rawValue)` is under way: ask again when it has ended.",
                        allowed: "\(most) at a time")
                ])
        }
        lastOrder += 1
        guard book.put(order, number: lastOrder) else {
            return fail(
                request, revision: revision, [CodedError("", .busy, "Too many commands wait.")])
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
            if case .calibrate = request.action { reporter.keep(calibration: result) }
            say(request, .done, revision: reporter.revision, result: result)
        case .failed(let error): fail(request, revision: reporter.revision, [error])
        }
    }

    private mutating func snapshot(_ span: CommandRequest.Span, _ request: CommandRequest, _ revision: Int) {
        let (from, to): (Int64, Int64)
        switch span {
        case .between(let start, let end): (from, to) = (start, end)
        case .last(let seconds):
            let now = HostClock.wall()
            (from, to) = (now - Int64(seconds * 1e9), now)
        }
        let topic = "\(topics.historyPrefix)/waveform/\(request.id ?? "")"
        order(.snapshot(from: from, to: to, topic: topic), storage.orders, request, revision)
    }

    private mutating func stream(
        _ fields: Value, _ seconds: Double, _ request: CommandRequest, _ reporter: inout Reporter
    ) {
        guard seconds > 0 else { return order(.endStream, sampling, request, reporter.revision) }
        do throws(CodedErrors) {
            let rate = status.now.sensor?.rate ?? reporter.inForce.sensor.rate
            let trace = try StreamFields.read(fields, rate: rate)
            order(.stream(trace, seconds: seconds), sampling, request, reporter.revision)
        } catch {
            fail(request, revision: reporter.revision, error.told)
        }
    }
}

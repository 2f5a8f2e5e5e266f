import Commands
import Messages
import Sensors
import Settings
import SignalProcessing
import Station

/// What commands ask for, between two blocks.
extension SamplingThread {
    // MARK: While samples come

    /// Carries out what has been asked for, before a block goes in, up to what has to wait until it has.
    func takeOrders(_ pipeline: inout StationPipeline, _ session: SamplingSession) {
        // Those behind one that has to wait stay in their book, which says when it is full.
        if orders.hasOrders, queue.isEmpty { queue = orders.takeOrders() }
        while let (number, order) = queue.first, !stopsTheSensor(order) {
            queue.removeFirst()
            if let outcome = carryOut(order, number, &pipeline, session) { orders.answer(number, outcome) }
        }
    }

    /// - Returns: nil when it goes on.
    private func carryOut(
        _ work: SamplingWork, _ number: Int, _ pipeline: inout StationPipeline, _ session: SamplingSession
    ) -> OrderOutcome? {
        switch work {
        case .command(let order): return carryOut(order, number, &pipeline, session)
        case .settings(.prepare(let new, let revision, _)): return prepare(new, revision, &pipeline)
        case .settings(.commit(let settings)): return commit(settings, &pipeline)
        case .settings(.abandon):
            (prepared, preparedDriver) = (nil, nil)
            return .done(.object([]))
        }
    }

    private func carryOut(
        _ order: SamplingOrder, _ number: Int, _ pipeline: inout StationPipeline, _ session: SamplingSession
    ) -> OrderOutcome? {
        switch order {
        case .resetExtremes:
            pipeline.resetExtremes()
            return .done(["since": Self.text(session.block.time)])
        case .testEvent:
            if pipeline.isSettling {
                return .failed(CodedError("", .unavailable, "the filters have not settled yet"))
            }
            guard duties.testEvent == nil, pipeline.beginTestEvent() else { return .failed(.eventIsOpen) }
            duties.testEvent = number
            return nil
        case .calibrate(let seconds):
            guard duties.calibration == nil else {
                return .failed(CodedError("", .busy, "calibration already in progress"))
            }
            let calibration = SamplingDuties.Calibration(number: number, seconds: seconds, rate: session.rate)
            duties.calibration = calibration
            return .began(["seconds": .double(Double(calibration.wanted) / session.rate)])
        case .stream(let traces, let seconds):
            return beginStream(traces, seconds, number, &pipeline, session)
        case .endStream:
            endStream(&pipeline)
            return .done(["blocks": .int(Int64(pipeline.streamBlocks))])
        case .confirm(let confirmation):
            pipeline.confirm(confirmation, to: sink)
            return .done(.object([]))
        case .selfTest: return .failed(CodedError("", .internal, "the sensor has to be stopped for this"))
        }
    }

    /// True for what cannot be done while a block waits.
    private func stopsTheSensor(_ work: SamplingWork) -> Bool {
        switch work {
        case .settings(.prepare(_, _, let reopens)): reopens
        case .settings(.commit): preparedDriver != nil
        case .command(.selfTest): true
        default: false
        }
    }

    private func beginStream(
        _ traces: TraceConfiguration, _ seconds: Double, _ number: Int, _ pipeline: inout StationPipeline,
        _ session: SamplingSession
    ) -> OrderOutcome? {
        guard duties.stream == nil else {
            return .failed(CodedError("", .busy, "stream already in progress: end it, or wait for its end"))
        }
        let topic: String
        do throws(StationError) { topic = try pipeline.beginStream(traces, to: sink) } catch {
            return .failed(CodedError(error))
        }
        let length = Int64(min(max(seconds, 0), 1e6) * 1e9)
        let until = session.block.time + length
        let slowness = speed > 0 && speed < 1 ? 1 / speed : 1
        duties.stream = .init(
            number: number, until: until,
            deadline: HostClock.monotonic() + Int64(min(Double(length) * slowness, 1e18)) + 2_000_000_000)
        return .began(["until": Self.text(until), "topic": .string(topic)])
    }

    /// Goes on with what takes longer, after a block.
    func attend(_ pipeline: inout StationPipeline, _ session: SamplingSession) {
        if let number = duties.testEvent {
            switch pipeline.testEvent() {
            case .wanted: break
            case .on(let id, _), .over(let id):
                duties.testEvent = nil
                orders.answer(number, .done(["event_id": .string(id)]))
            case .none, .refused:
                duties.testEvent = nil
                orders.answer(number, .failed(.eventIsOpen))
            }
        }
        if duties.calibration != nil {
            duties.calibration?.rest.append(session.block)
            if let calibration = duties.calibration, calibration.rest.count >= calibration.wanted {
                duties.calibration = nil
                orders.answer(
                    calibration.number, calibration.outcome(configuration.sensor.mounting, time: HostClock.wall()))
            }
        }
        if let stream = duties.stream, session.end >= stream.until || HostClock.monotonic() >= stream.deadline {
            endStream(&pipeline)
        }
    }

    private func endStream(_ pipeline: inout StationPipeline) {
        pipeline.endStream(to: sink)
        guard let stream = duties.stream else { return }
        duties.stream = nil
        orders.answer(stream.number, .done(["blocks": .int(Int64(pipeline.streamBlocks))]))
    }

    /// The first order that stops the sensor, after the block before it has gone in.
    /// - Returns: false when the thread is to end.
    func carryOutNext(_ session: inout SamplingSession, _ pipeline: inout StationPipeline) -> Bool {
        let (number, order) = queue.removeFirst()
        switch order {
        case .settings(.prepare(let new, let revision, _)):
            interrupted("the sensor is opened anew")
            return tryOut(PreparedSettings(configuration: new, revision: revision), number, &session, &pipeline)
        case .settings(.commit):
            interrupted("the sensor is opened anew")
            closeSensor()
            if let new = prepared.take() { take(new) }
            orders.answer(number, .done(.object([])))
            return openAgain(&session, &pipeline)
        case .command(.selfTest):
            orders.answer(number, selfTest(&session, pipeline.isEventOpen()))
        default: orders.answer(number, .failed(CodedError("", .internal, "out of order")))
        }
        return true
    }

    private func selfTest(_ session: inout SamplingSession, _ isEventOpen: Bool) -> OrderOutcome {
        if isEventOpen { return .failed(.eventIsOpen) }
        if duties.calibration != nil {
            return .failed(CodedError("", .busy, "calibration in progress"))
        }
        let outcome = makeSelfTest()
        if outcome.error?.code != .unsupported {
            session.isFirst = true
            status.change { $0.selfTest = outcome }
        }
        guard let report = outcome.report else {
            return .failed(CodedError("", .unavailable, outcome.error?.message ?? "no self-test"))
        }
        return .done(report.value(time: outcome.time))
    }

    // MARK: While none come

    /// Settings are taken for the next opening, what needs a sensor is refused.
    /// - Returns: true when there are other settings to try at once.
    func serveIdle() -> Bool {
        if let stream = duties.stream, HostClock.monotonic() >= stream.deadline { answerStream(stream) }
        guard orders.hasOrders || !queue.isEmpty else { return false }
        queue += orders.takeOrders()
        var isOther = false
        for (number, order) in queue {
            switch order {
            case .settings(.prepare(let new, let revision, let reopens)):
                let problem =
                    reopens ? nil : lastSensor.flatMap { StationCheck.problem(new, sensor: StationSensor($0)) }
                if problem == nil {
                    prepared = PreparedSettings(configuration: new, revision: revision)
                    preparedDriver = reopens ? choose(new.sensor) : nil
                }
                orders.answer(number, problem.map { .failed(CodedError($0)) } ?? .done(.object([])))
            case .settings(.commit(let settings)):
                if let new = settings ?? prepared.take() {
                    take(new)
                    isOther = true
                }
                orders.answer(number, .done(.object([])))
            case .settings(.abandon):
                (prepared, preparedDriver) = (nil, nil)
                orders.answer(number, .done(.object([])))
            case .command(.endStream):
                if let stream = duties.stream { answerStream(stream) }
                orders.answer(number, .done(.object([])))
            case .command: orders.answer(number, .failed(.noSensor))
            }
        }
        queue.removeAll()
        return isOther
    }

    /// The pipeline hears of its end when samples come again.
    private func answerStream(_ stream: SamplingDuties.Stream) {
        duties.stream = nil
        orders.answer(stream.number, .done(.object([])))
    }

    /// No more samples come of those before: what needs an unbroken stretch is over.
    func interrupted(_ message: String) {
        guard let calibration = duties.calibration else { return }
        duties.calibration = nil
        orders.answer(calibration.number, .failed(CodedError("", .unavailable, message)))
    }

    /// The recording is over.
    func finishDuties(_ pipeline: inout StationPipeline, _ session: SamplingSession) {
        attend(&pipeline, session)
        interrupted("the recording is over")
        endStream(&pipeline)
    }

    /// The thread ends: nothing is left without an answer.
    func refuseAll() {
        let ends = OrderOutcome.failed(CodedError("", .unavailable, "the agent ends"))
        interrupted("the agent ends")
        if let number = duties.testEvent { orders.answer(number, ends) }
        if let stream = duties.stream { answerStream(stream) }
        for (number, _) in queue + orders.takeOrders() { orders.answer(number, ends) }
        queue.removeAll()
    }

    private static func text(_ time: Int64) -> Value { .string(Timestamp(nanoseconds: time).description) }
}

extension CodedError {
    init(_ error: StationError) { self.init("", .crossField, error.description) }
}

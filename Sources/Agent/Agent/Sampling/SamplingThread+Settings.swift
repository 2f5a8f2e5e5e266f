import Messages
import Sensors
import Settings
import Station

/// Other settings between `prepare` and `commit` or `abandon`.
final class PreparedSettings: Sendable {
    let configuration: Configuration
    let revision: Int
    /// Nil: it is to be made when the sensor is there.
    let pipeline: StationPipeline.Prepared?

    init(configuration: Configuration, revision: Int, pipeline: StationPipeline.Prepared? = nil) {
        (self.configuration, self.revision, self.pipeline) = (configuration, revision, pipeline)
    }
}

/// Settings into force, in two steps.
extension SamplingThread {
    /// A sensor that was opened to prepare settings has gone on measuring for less than this when they are taken (ns).
    private static let freshness: Int64 = 200_000_000

    // MARK: The same sensor

    func prepare(_ new: Configuration, _ revision: Int, _ pipeline: inout StationPipeline) -> OrderOutcome {
        do throws(StationError) {
            prepared = PreparedSettings(
                configuration: new, revision: revision, pipeline: try pipeline.prepare(new))
        } catch { return .failed(CodedError(error)) }
        return .done(.object([]))
    }

    func commit(_ settings: PreparedSettings?, _ pipeline: inout StationPipeline) -> OrderOutcome {
        guard let new = settings ?? prepared.take() else {
            return .failed(CodedError("", .internal, "nothing is prepared"))
        }
        take(new)
        var problem: SamplingStatus.Problem?
        if let made = new.pipeline, pipeline.fits(made) {
            pipeline.commit(made, revision: revision, to: sink)
        } else {
            // The sensor is another one than when they were prepared. What does not fit it is told.
            do throws(StationError) { try pipeline.reconfigure(configuration, revision: revision, to: sink) } catch {
                problem = .settings(error)
            }
        }
        isStale = false
        connectRing(&pipeline)
        status.change {
            if problem != nil { $0.problem = problem } else if case .settings = $0.problem { $0.problem = nil }
        }
        return .done(.object([]))
    }

    // MARK: A sensor that is opened anew

    func closeSensor() {
        driver.close()
        // What was measured of the sensor before says nothing of what it is set to now.
        status.take(nil)
    }

    /// Opens the sensor with other settings, and waits for the word whether they count; without it, as before.
    /// - Returns: false when the thread is to end.
    func tryOut(
        _ settings: PreparedSettings, _ number: Int, _ session: inout SamplingSession,
        _ pipeline: inout StationPipeline
    ) -> Bool {
        closeSensor()
        var other = choose(settings.configuration.sensor)
        var (found, value): (SensorDescription?, Value) = (nil, .object([]))
        do throws(SensorError) {
            let sensor = try other.open()
            do throws(StationError) {
                _ = try pipeline.prepare(settings.configuration, sensor: StationSensor(sensor))
            } catch {
                other.close()
                orders.answer(number, .failed(CodedError(error)))
                return openAgain(&session, &pipeline)
            }
            found = sensor
            value = [
                "sensor": [
                    "driver": .string(sensor.driver), "chip": .string(sensor.chip), "rate_hz": .double(sensor.rate),
                ]
            ]
        } catch {
            other.close()
            // The settings can be in force all the same: what is missing may still come.
            value = ["problem": .string(error.message)]
        }
        orders.answer(number, .done(value))
        let began = HostClock.monotonic()
        guard let end = awaitEnd() else {
            other.close()
            return false
        }
        let isFresh = HostClock.monotonic() - began < Self.freshness
        if case .commit = end.step, isFresh { openSensor = found } else { other.close() }
        if case .commit = end.step {
            preparedDriver = other
            take(settings)
        }
        orders.answer(end.number, .done(.object([])))
        return openAgain(&session, &pipeline)
    }

    /// Waits for `commit` or `abandon`; other orders wait with it. Nil: the thread is to end.
    private func awaitEnd() -> (number: Int, step: SettingsStep)? {
        while !status.mustStop {
            status.heartbeat.wrappingAdd(1, ordering: .relaxed)
            queue += orders.takeOrders()
            for (index, one) in queue.enumerated() {
                guard case .settings(let step) = one.order, step.endsAChange else { continue }
                queue.remove(at: index)
                return (one.number, step)
            }
            status.pause(nanoseconds: 250_000_000)
        }
        return nil
    }
}

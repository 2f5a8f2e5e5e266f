import Messages
import Settings
import Vibration

/// Measures vibration beside the rest of the pipeline and sends a message for each interval. It takes the samples as they are
/// before `conditioning.offset`: the bands have high passes of their own. (An object: most stations have none.)
final class VibrationSender {
    /// How the last interval stood to the limit; nil without a limit or an interval.
    private(set) var last: VibrationMessage.Standing?
    /// Intervals that were sent, also by those before that this one goes on with.
    private(set) var count = 0

    private let settings: VibrationConfiguration
    /// Name of the limit in force.
    private let limitName: String
    private let measurement: VibrationMeasurement
    private var meter: VibrationMeter
    /// Dose and floor of its intervals, with those before them.
    private var sums: VibrationPast
    /// Dose and floor of an earlier run, until an interval follows it.
    private var earlier: VibrationPast?
    /// Begin of its first interval; nil: there was none.
    private var oldest: Int64?
    private var message = VibrationMessage()
    /// Number of the chunk's intervals that have been sent.
    private var sent = 0

    /// Returns the meter that the settings ask for; nil: none.
    /// - Parameter rate: of the sensor (Hz).
    static func meter(_ configuration: Configuration, rate: Double) throws(StationError) -> VibrationMeter? {
        guard configuration.vibration.enabled else { return nil }
        do throws(VibrationError) {
            return try VibrationMeter(configuration.vibration.measurement, rate: rate)
        } catch { throw StationError(path: error.path, message: error.message) }
    }

    /// Nil without a meter.
    init?(_ configuration: Configuration, _ meter: VibrationMeter?) {
        guard let meter else { return nil }
        self.meter = meter
        settings = configuration.vibration
        limitName = settings.limit?.name ?? ""
        measurement = settings.measurement
        sums = VibrationPast(measurement, offset: settings.utcOffset)
        (message.lower, message.upper) = (measurement.band.lower, measurement.band.upper)
        for k in 0..<3 { message.axes[k].weighting = measurement.weightings[k].name }
    }

    /// Goes on with what another one has learned that does not depend on what has changed.
    /// - Parameter old: whose last interval has been sent; see ``finish(_:_:to:)``.
    func takeOver(_ old: VibrationSender) {
        count = old.count
        meter.begin(.change)
        if settings.limit == old.settings.limit, settings.warnShare == old.settings.warnShare { last = old.last }
        sums.join(old.sums)
        (earlier, oldest) = (old.earlier, old.oldest)
    }

    /// Goes on with what an earlier run has measured, as soon as an interval follows it. What is measured again, such as a
    /// recording that is played once more, does not count twice.
    func goOn(from earlier: VibrationPast) {
        if let oldest, let newest = earlier.newest, oldest < newest { return }
        self.earlier = earlier
    }

    /// For another one that goes on later.
    var past: VibrationPast { earlier ?? sums }

    private func join(before interval: VibrationInterval) {
        if oldest == nil { oldest = interval.start }
        guard let earlier else { return }
        if interval.start >= earlier.newest ?? interval.start {
            sums.join(earlier)
        } else if interval.seconds < 0.9 * Double(interval.length) {
            // (A clock that was behind, and is set in it.)
            return
        }
        self.earlier = nil
    }

    /// Forgets all samples: what follows does not continue them.
    func reset(_ reason: VibrationInterval.Interruptions) { meter.reset(reason) }

    /// Samples are missing: the filters are given estimates of them by ``bridge(_:count:)``.
    func interrupt(_ reason: VibrationInterval.Interruptions) { meter.interrupt(reason) }

    /// Gives samples to the filters that are not measured.
    func bridge(_ planes: borrowing Planes, count: Int) {
        meter.bridge(planes.raw, stride: Planes.capacity, count: count)
    }

    /// Takes a whole chunk; its messages are sent sample by sample.
    func take(_ planes: borrowing Planes, count: Int) {
        sent = 0
        meter.process(planes.raw, stride: Planes.capacity, times: planes.times, count: count)
    }

    /// Samples of the chunk from one on at which no message is due.
    func left(from i: Int) -> Int {
        sent < meter.completed.count ? max(0, meter.completed[sent].sample - i) : Planes.capacity
    }

    /// Sends what is due at a sample of the chunk.
    func send(at i: Int, _ messenger: inout Messenger, quality: TimeQuality, to sink: PublicationSink) {
        while sent < meter.completed.count, meter.completed[sent].sample <= i {
            send(meter.completed[sent].interval, &messenger, quality: quality, to: sink)
            sent += 1
        }
    }

    /// Sends the interval that is not complete.
    func finish(
        _ messenger: inout Messenger, quality: TimeQuality, _ reason: VibrationInterval.Interruptions,
        to sink: PublicationSink
    ) {
        for interval in meter.finish(reason) { send(interval, &messenger, quality: quality, to: sink) }
    }

    private func send(
        _ interval: VibrationInterval, _ messenger: inout Messenger, quality: TimeQuality, to sink: PublicationSink
    ) {
        join(before: interval)
        sums.add(interval)
        let (period, floor) = (sums.period, sums.floor)
        let doses = period.doses
        (message.start, message.length, message.seconds) = (interval.start, interval.length, interval.seconds)
        (message.gaps, message.pvs, message.pvsTime) = (interval.gaps, interval.pvs, interval.pvsTime)
        (message.interruptions, message.halfCycles) = (interval.interruptions, interval.halfCycles)
        message.period = period.isNight ? .night : .day
        message.periodSeconds = period.seconds
        for k in 0..<3 {
            message.axes[k].values = interval.axes[k]
            message.axes[k].dosePeriod = doses[k]
            message.axes[k].floor = floor.values(axis: k)
        }
        if let limit = settings.limit {
            let share = limit.share(of: interval, doses: doses, isNight: period.isNight)
            let state: VibrationMessage.State =
                share.ratio >= 1 ? .exceeded : share.ratio >= settings.warnShare ? .warning : .ok
            let compared = VibrationMessage.Limit(name: limitName, share: share)
            (message.limit, message.state) = (compared, state)
            let unit = limit.table.measure == .vdv ? "m/s^1.75" : "mm/s"
            last = .init(state: state, limit: compared, unit: unit, start: interval.start)
        }
        count += 1
        let end = interval.start + Int64(interval.length) * 1_000_000_000
        messenger.send(message, time: end, quality: quality, to: sink)
    }
}

extension VibrationError {
    /// The setting that would be changed to mend it.
    var path: String {
        switch self {
        case .rate, .weighting: "/sensor/rate_hz"
        case .band(let band, _): band.name == nil ? "/vibration/upper_hz" : "/vibration/band"
        case .corners: "/vibration/lower_hz"
        case .interval: "/vibration/interval_s"
        }
    }
}

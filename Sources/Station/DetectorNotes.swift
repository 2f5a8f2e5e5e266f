import Messages
import Seismology
import Settings

/// Writes into an event which detectors have been on, and what they saw.
struct DetectorNotes: Sendable {
    private let axes: PerAxis<AxisConfiguration>
    private let settings: DetectionConfiguration
    private let revision: Int

    init(_ configuration: Configuration, revision: Int) {
        axes = configuration.axes
        settings = configuration.detection
        self.revision = revision
    }

    /// Takes what a sample says; for every sample of an event.
    /// - Parameter movement: the detector while it is on, or last was.
    func take(
        _ sample: RecordedSample, _ state: DetectionState, _ movement: MovementDetector?,
        into message: inout EventMessage
    ) {
        if settings.staLTA.enabled { message.staLtaMax.takeLarger(sample.ratios, of: settings.staLTA.signal) }
        guard state.detectorsOn > 0 else { return }
        if state.levelOn {
            let on = AxisSet(rawValue: sample.triggeredAxes)
            let (value, threshold) = level(sample.rms, on)
            note("level", nil, on, sample.time, value, threshold, &message)
        }
        if state.ratioAxes != 0 {
            let r = sample.ratios
            let value = settings.staLTA.signal == .each ? max(r.first, r.second, r.third) : r.first
            note(
                "sta_lta", settings.staLTA.signal, .init(rawValue: state.ratioAxes), sample.time, value,
                settings.staLTA.on, &message)
        }
        if state.peakAxes != 0 {
            note(
                "peak", settings.peak.signal, .init(rawValue: state.peakAxes), sample.time, state.peak,
                settings.peak.threshold, &message)
        }
        if state.movementOn, let movement {
            let (axis, isNegative) = movement.direction
            let m = movement.largest
            note(
                "movement", nil, .init(rawValue: 1 << UInt8(axis)), sample.time, max(abs(m.x), abs(m.y), abs(m.z)),
                movement.threshold, &message)
            let last = message.detectors.firstIndex { $0.name == "movement" } ?? 0
            message.detectors[last].direction = Direction.Axis(axis, isNegative: isNegative)
            message.detectors[last].peaks = AxisValues(x: m.x, y: m.y, z: m.z)
        }
    }

    private func note(
        _ name: String, _ signal: DetectorSignal?, _ axes: AxisSet, _ time: Int64, _ value: Double,
        _ threshold: Double, _ message: inout EventMessage
    ) {
        guard let i = message.detectors.firstIndex(where: { $0.name == name }) else {
            // A vector has no axes of its own.
            let isVector = signal?.isVector ?? false
            message.detectors.append(
                .init(
                    name: name, signal: signal?.rawValue, axes: isVector ? [] : axes, on: time, value: value,
                    threshold: threshold, configRevision: revision))
            return
        }
        if !message.detectors[i].axes.isEmpty { message.detectors[i].axes.formUnion(axes) }
        message.detectors[i].maximum = max(message.detectors[i].maximum, value)
    }

    /// The RMS, and its threshold, that is furthest above it among some axes.
    private func level(_ rms: (x: Double, y: Double, z: Double), _ on: AxisSet) -> (Double, Double) {
        var best = (value: 0.0, threshold: 0.0, ratio: -1.0)
        for (axis, value, bit) in [(0, rms.x, AxisSet.x), (1, rms.y, .y), (2, rms.z, .z)] where on.contains(bit) {
            let threshold = axes[axis].detection.threshold
            let ratio = value / threshold
            if ratio > best.ratio { best = (value, threshold, ratio) }
        }
        return (best.value, best.threshold)
    }
}

extension Optional<RatioValues> {
    /// Takes the larger of each ratio; the first ones when there are none.
    fileprivate mutating func takeLarger(_ ratios: Ratios, of signal: DetectorSignal) {
        var values = RatioValues(ratios, of: signal)
        if let old = self {
            values.x = values.x.map { Swift.max($0, old.x ?? 0) }
            values.y = values.y.map { Swift.max($0, old.y ?? 0) }
            values.z = values.z.map { Swift.max($0, old.z ?? 0) }
            values.h = values.h.map { Swift.max($0, old.h ?? 0) }
            values.v3 = values.v3.map { Swift.max($0, old.v3 ?? 0) }
        }
        self = values
    }
}

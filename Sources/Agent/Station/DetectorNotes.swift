import Messages
import Seismology
import Settings

/// STA/LTA ratios of one sample: of x, y and z, or the first alone.
typealias Ratios = (first: Double, second: Double, third: Double)

/// Writes into an event which detectors have been on, and what they saw.
struct DetectorNotes: Sendable {
    private let detectors: [DetectorFacts]
    private let ratios: [DetectorFacts]
    private let revision: Int

    init(_ configuration: Configuration, revision: Int) {
        detectors = configuration.detection.enabled
        ratios = detectors.filter(\.isRatio)
        self.revision = revision
    }

    /// Takes what a sample of the chunk says; for every sample of an event.
    func take(
        _ planes: borrowing Planes, _ i: Int, _ state: DetectionState, time: Int64, into message: inout EventMessage
    ) {
        for k in ratios.indices {
            let values = RatioValues(planes.ratios(of: ratios[k].number, at: i), of: ratios[k].signal ?? .each)
            if let known = message.ratios.firstIndex(where: { $0.name == ratios[k].name }) {
                message.ratios[known].values.takeLarger(values)
            } else {
                message.ratios.append(DetectorRatios(ratios[k].name, values))
            }
        }
        guard state.on != 0 else { return }
        for k in detectors.indices where state.isOn(detectors[k].number) {
            note(detectors[k], planes.readings[detectors[k].number], time, &message)
        }
    }

    private func note(_ one: DetectorFacts, _ reading: DetectorReading, _ time: Int64, _ message: inout EventMessage) {
        let axes = AxisSet(rawValue: reading.axes)
        let known = message.detectors.firstIndex { $0.name == one.name }
        let place = known ?? message.detectors.count
        if known == nil {
            // A vector has no axes of its own.
            let isVector = one.signal?.isVector ?? false
            message.detectors.append(
                .init(
                    name: one.name, signal: one.signal?.rawValue, axes: isVector ? [] : axes, on: time,
                    value: reading.value, threshold: reading.threshold, configRevision: revision))
        } else {
            if !message.detectors[place].axes.isEmpty { message.detectors[place].axes.formUnion(axes) }
            message.detectors[place].maximum = max(message.detectors[place].maximum, reading.value)
        }
        if let movement = reading.movement {
            let m = movement.peaks
            message.detectors[place].direction = Direction.Axis(movement.axis, isNegative: movement.isNegative)
            message.detectors[place].peaks = AxisValues(x: m.x, y: m.y, z: m.z)
        }
    }
}

extension RatioValues {
    /// The ratios under the names of what they belong to.
    init(_ ratios: Ratios, of signal: DetectorSignal) {
        self.init()
        switch signal {
        case .each: (x, y, z) = (ratios.first, ratios.second, ratios.third)
        case .x: x = ratios.first
        case .y: y = ratios.first
        case .z: z = ratios.first
        case .h: h = ratios.first
        case .v3: v3 = ratios.first
        }
    }

    /// Takes the larger of each ratio that there is in the new ones.
    fileprivate mutating func takeLarger(_ new: RatioValues) {
        func larger(_ value: Double?, _ old: Double?) -> Double? { value.map { max($0, old ?? 0) } }
        (x, y, z) = (larger(new.x, x), larger(new.y, y), larger(new.z, z))
        (h, v3) = (larger(new.h, h), larger(new.v3, v3))
    }
}

import Messages
import Seismology
import Settings
import SignalProcessing

extension EventMessage {
    /// Seconds of the polarisation's window, from the first motion or else the onset.
    private static let polarizationWindow = 2.0

    /// Takes the measures of the samples so far.
    /// - Parameter first: the first motion, found at this or an earlier moment of the event.
    mutating func takeMeasures(
        _ motion: EventMotion, _ record: EventRecord, _ first: Seismology.FirstMotion?, _ configuration: Configuration
    ) {
        let horizontal = configuration.intensity.horizontal
        pgd = motion.pgd(horizontal)
        standardizedCAV = motion.standardizedCAV
        let mean = motion.meanAbsolute
        rsam = AxisValues(x: mean.x, y: mean.y, z: mean.z)
        gaps = max(0, record.segments.count - 1)
        missing = (Double(record.missing) / record.rate * 1e4).rounded() / 1e4
        accelerationValid = motion.isAccelerationCertain
        velocityValid = motion.isVelocityCertain
        displacementValid = motion.isDisplacementCertain
        if let first {
            firstMotion = .init(
                axis: Direction.Axis(first.axis, isNegative: !first.positive), t: record.time(first.place))
        }
        direction = Direction(
            strongest: motion.strongest,
            record.polarization(from: first?.place ?? record.onset, seconds: Self.polarizationWindow),
            north: configuration.sensor.mounting.north)
    }

    /// The arrival.
    mutating func take(_ arrival: ArrivalPick?) {
        arrivalTime = arrival.map { onset + Int64(($0.time * 1e9).rounded()) }
        arrivalSigma = arrival.map { ($0.sigma * 1e3).rounded() / 1e3 }
    }

    /// Class, alarm and on-site estimate.
    mutating func take(_ assessment: EventAssessment, pgv: Double) {
        eventClass = assessment.discriminator?.result
        onsite = assessment.estimate.flatMap { OnsiteMessage($0, soFar: pgv) }
        alarm = assessment.isAlarm
    }

    /// The class in the end, and what it was judged by, four decimals, when the event is over.
    mutating func takeConclusion(_ assessment: EventAssessment) {
        guard let discriminator = assessment.discriminator, !test else { return }
        eventClass = discriminator.conclusion
        let judged = discriminator.judged
        guard !judged.isEmpty else { return }
        classFeatures = judged.map { one -> [Double] in
            ([one.time] + one.features).map { (value: Double) -> Double in (value * 1e4).rounded() / 1e4 }
        }
    }

    /// Takes the measures that exist only when the event is over.
    mutating func takeDurations(_ motion: EventMotion, _ record: EventRecord) {
        let (x, y, mean) = motion.spectrum.values
        var columns = ResponseSpectrumColumns()
        (columns.periods, columns.x, columns.y, columns.mean) = (ResponseSpectrum.periods, x, y, mean)
        responseSpectrum = columns
        let durations = record.significantDurations(axis: motion.strongerHorizontal)
        (duration75, duration95) = (durations?.to75, durations?.to95)
    }
}

extension Direction.Axis {
    /// An axis (0, 1, 2 are x, y, z) and its sign.
    init(_ axis: Int, isNegative: Bool) {
        switch axis {
        case 0: self = isNegative ? .minusX : .plusX
        case 1: self = isNegative ? .minusY : .plusY
        default: self = isNegative ? .minusZ : .plusZ
        }
    }
}

extension Direction {
    /// Where the ground moved; nil where it did not.
    /// - Parameters:
    ///   - strongest: the largest acceleration, m/s².
    ///   - polarization: of the window; without one the azimuth is that of the largest acceleration.
    ///   - north: bearing of the station's y axis in degrees.
    init?(strongest a: (x: Double, y: Double, z: Double), _ polarization: Polarization?, north: Double) {
        guard a.x != 0 || a.y != 0 || a.z != 0 else { return nil }
        let largest = largestAxis(a)
        let axis = Axis(largest, isNegative: (largest == 0 ? a.x : largest == 1 ? a.y : a.z) < 0)
        var degrees = (polarization?.azimuth ?? bearing(east: a.x, north: a.y)) + north
        degrees -= (degrees / 360).rounded(.down) * 360
        self.init(
            azimuthDeg: degrees, axis: axis, incidenceDeg: polarization?.incidence,
            rectilinearity: polarization?.rectilinearity)
    }
}

/// Analysis of an event's whole record when it has ended: JMA intensity and strongest frequency, in parts like those of
/// ``GroundMonitor``. Where samples are missing, it uses the longest stretch without a gap. Of a stretch of more than
/// 65 536 samples (five minutes at 200 Hz, one at 1000 Hz) it computes only the frequency, from so many at its
/// beginning; the intensity stays the largest of the sliding windows.
struct EventAnalysis: Sendable {
    /// Before rounding; nil when the record is shorter than 3 s or nobody asked for it.
    private(set) var jma: Double?
    /// Hz.
    private(set) var dominant: Double?

    /// Longest record whose whole intensity is computed. Of a longer record it is that of so many samples at its end as
    /// make a good length for a Fourier transform, at most 5.2 % less: any length is exact, but takes three times the
    /// memory and the time.
    private static let anyLength = 8192
    /// Longer transforms would keep the sampler from its work.
    private static let longest = 65_536

    private enum Part { case plans, intensity, frequency, done }
    private let wantsIntensity: Bool
    private let lowest: Double
    private let range: Range<Int>
    /// Samples from which the intensity is computed.
    private let intensityRange: Range<Int>
    private let rate: Double
    private var part = Part.plans
    private var intensity: JMACalculation?
    private var frequency: DominantFrequency?

    init(_ configuration: Configuration, of record: EventRecord) {
        lowest = configuration.spectrum.lowest
        rate = record.rate
        var longest = 0..<0
        for (i, segment) in record.segments.enumerated() {
            let end = i + 1 < record.segments.count ? record.segments[i + 1].first : record.count
            if end - segment.first > longest.count { longest = segment.first..<end }
        }
        range = longest.prefix(Self.longest)
        let isLong = range.count > Self.anyLength
        intensityRange = range.suffix(isLong ? FourierPlan.length(atMost: range.count) : range.count)
        wantsIntensity = configuration.intensity.scales.contains(.jma) && longest.count <= Self.longest
        if Double(longest.count) < JMAIntensity.shortest * rate { part = .done }
    }

    /// Does the next part; true when all is done.
    mutating func step(_ record: EventRecord) -> Bool {
        switch part {
        case .plans:
            if wantsIntensity { intensity = JMACalculation(rate: rate, longest: intensityRange.count) }
            intensity?.begin(count: intensityRange.count)
            part = .intensity
        case .intensity:
            guard intensity?.step({ record.copy(axis: $0, intensityRange, to: $1) }) ?? true else { return false }
            jma = intensity?.raw
            intensity = nil
            frequency = DominantFrequency(rate: rate, longest: range.count, lowest: lowest)
            frequency?.begin(count: range.count)
            part = .frequency
        case .frequency:
            guard frequency?.step({ record.copy(axis: $0, range, to: $1) }) ?? true else { return false }
            dominant = frequency?.frequency
            frequency = nil
            part = .done
        case .done: break
        }
        return part == .done
    }
}

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

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

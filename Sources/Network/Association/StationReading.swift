import Messages
import Propagation
import Values

/// Why something that a station sent is not used. Everything from outside is counted by one of these.
public enum RejectionReason: String, Sendable, CaseIterable, Error {
    /// Not a message of a station's events or state.
    case topic
    /// The payload is no object, or lacks a member, or one has another type.
    case syntax
    /// The payload names another station than its topic.
    case station
    /// The event's id does not begin with the station's, or has other characters than ids have.
    case eventID = "event_id"
    /// An onset later than its message, or than the clock.
    case future
    /// An onset more than a day old.
    case old
    /// A clock that may be more than two seconds off.
    case clock
    /// A peak that no such sensor can measure.
    case value
    /// Degrees or metres outside the Earth's surface.
    case place
    /// A station that states another place than it is known at, or an onset of it, before somebody has confirmed it.
    case moved
    /// No place is known of the station.
    case unplaced
    /// More than ten onsets of one station within three minutes.
    case rate
    /// More stations than are kept.
    case stations
    /// Made by the command `test-event`.
    case test
}

/// A message of a station; ``precedes(_:_:)`` has the order in which the associator uses them.
struct StationReport: Sendable, Equatable {
    var onset: StationOnset
    var isFirst: Bool

    /// When it takes effect, nanoseconds of UTC.
    var time: Int64 { isFirst ? onset.time : max(onset.time, onset.asOf) }

    static func precedes(_ a: StationReport, _ b: StationReport) -> Bool {
        if a.time != b.time { return a.time < b.time }
        if a.isFirst != b.isFirst { return a.isFirst }
        return a.onset.eventID < b.onset.eventID
    }
}

extension StationReport {
    /// Peaks above ten times gravity are no measurements.
    static let largestPeak = 98.0665
    static let daySeconds: Int64 = 86_400
    /// Seconds that an onset may be ahead of the clock.
    static let aheadSeconds: Int64 = 5
    static let worstClock = 2000.0
    /// Intensities on Mercalli's scale, as a relation gives them.
    static let mercalli = 0...12.5
    /// Seconds that a station's arrival may be off, by its own word and from the onset.
    static let largestSigma = 60.0
    static let farthestArrival = 60.0

    /// Reads the payload of `event/trigger`.
    /// - Parameters:
    ///   - station: of the topic.
    ///   - arrival: when it came, nanoseconds of UTC; nil where that is not known.
    public init(_ payload: Value, station: String, arrival: Int64?) throws(RejectionReason) {
        guard let event = StationEventReading(payload), let kind = event.kind else { throw .syntax }
        if let name = event.station, name != station { throw .station }
        if event.isTest { throw .test }
        guard EventID.isOf(station: station, event.eventID) else { throw .eventID }
        let onset = event.onset
        var asOf = onset
        // `t` of an event is that of its newest sample.
        if kind != .onset, let time = event.newest { asOf = time }
        if let end = event.end { asOf = max(asOf, end) }
        if let duration = event.duration, duration >= 0, duration < 3600, kind != .onset {
            asOf = max(asOf, onset + Int64(duration * 1e9))
        }
        if let arrival {
            guard onset <= arrival + Self.aheadSeconds * 1_000_000_000 else { throw .future }
            guard onset >= arrival - Self.daySeconds * 1_000_000_000 else { throw .old }
            asOf = min(asOf, arrival + Self.aheadSeconds * 1_000_000_000)
        }
        let (lasted, isBeyond) = asOf.subtractingReportingOverflow(onset)
        guard asOf >= onset, !isBeyond, lasted <= Self.daySeconds * 1_000_000_000 else { throw .future }
        if let error = event.clockError, error > Self.worstClock { throw .clock }
        var result = StationOnset(eventID: event.eventID, station: station, time: onset)
        result.asOf = asOf
        if let time = event.arrival, let sigma = event.arrivalSigma {
            let (apart, isFar) = time.subtractingReportingOverflow(onset)
            guard (0...Self.largestSigma).contains(sigma), !isFar,
                abs(Double(apart)) <= Self.farthestArrival * 1e9
            else { throw .value }
            result.arrival = .init(time: time, sigma: sigma)
        }
        if let pga = event.pga {
            guard (0...Self.largestPeak).contains(pga) else { throw .value }
            result.pga = pga
        }
        for one in event.intensities where one.scale == "mmi" {
            guard let number = one.value, Self.mercalli.contains(number) else { throw .value }
            // The largest intensity of a network is of certain ones alone.
            guard let certain = one.certain else { continue }
            guard Self.mercalli.contains(certain) else { throw .value }
            result.mmi = max(certain, result.mmi ?? certain)
        }
        if let likely = event.likely {
            let known = StationOnset.Likely(rawValue: likely) ?? .unclassified
            // What has not been judged yet says nothing.
            if known != .unclassified || event.probability != nil {
                // Stations that do not say `final` call a disturbance certain that stays one.
                let isFinal = event.isClassFinal || kind == .end || known == .disturbance && event.isClassCertain
                result.judgement = .init(known, probability: event.probability, isFinal: isFinal, asOf: asOf)
            }
        }
        (self.onset, isFirst) = (result, kind == .onset)
    }
}

extension Place {
    /// Reads `station` of `state/info`; nil where the station says no place.
    public static func reading(_ station: StationIdentityReading) throws(RejectionReason) -> Place? {
        guard station.statedLatitude != nil, station.statedLongitude != nil else { return nil }
        guard let north = station.latitude, let east = station.longitude, (-90...90).contains(north),
            (-180...180).contains(east)
        else { throw .place }
        let metres = station.elevation ?? 0
        guard (-12_000...9000).contains(metres) else { throw .place }
        return Place(latitude: north, longitude: east, elevation: metres / 1000)
    }
}

import Messages
import Values

// What a detector says besides the versions of events, on one broker and on a cluster alike.

extension ConfirmationBook {
    /// Consequence of a version of a network event.
    public enum Notice: Sendable {
        /// For everybody who looks (`network/confirmed/<id>`).
        case message(NetworkConfirmation)
        /// For the station, which takes it by its own choice (`cmd/confirm-event`).
        case command(station: String, request: Value)
    }

    /// Takes a version of a network event, and says for each station whose onset is in it, or is not any more, what it and
    /// others are to be told, in order. What cannot be said before the version is taken leaves the book as it was.
    public mutating func announce<E>(
        _ event: NetworkEventMessage, _ say: (Notice) throws(E) -> Void
    ) throws(E) {
        func message(_ station: String, _ name: String, _ isConfirmed: Bool) -> Notice {
            var message = NetworkConfirmation()
            (message.station, message.eventID) = (station, name)
            (message.networkEvent, message.version) = (event.eventID, event.version)
            message.isConfirmed = isConfirmed
            message.isActive = event.kind != .end
            message.stations = event.stations.count
            return .message(message)
        }
        for one in event.stations where event.mergedInto == nil {
            try say(message(one.id, one.eventID, !event.isWithdrawn))
        }
        for (station, one) in take(event) {
            if !one.isConfirmed, !event.isWithdrawn { try say(message(station, one.eventID, false)) }
            try say(.command(station: station, request: one.request))
        }
    }
}

extension SequenceWatch.Gap {
    /// The command that asks the station for it.
    /// - Parameters:
    ///   - run: UUID of this run of the detector.
    ///   - number: of the request, from 1.
    public func request(run: String, number: Int) -> Value {
        [
            "id": .string("network-\(run.prefix(8))-\(number)"), "source": "seismote network",
            "stream": "event/trigger", "boot": .string(boot), "from_seq": .int(Int64(from)), "to_seq": .int(Int64(to)),
        ]
    }
}

extension NetworkStatusMessage {
    /// - Parameters:
    ///   - asked: requests to stations.
    ///   - published: versions of events.
    public init(
        isOnline: Bool, version: String, _ detector: NetworkDetector, _ watch: SequenceWatch, asked: Int, published: Int
    ) {
        self.init()
        (self.isOnline, self.version) = (isOnline, version)
        (stations, openEvents) = (detector.stations, detector.openEvents)
        (taken, late) = (detector.taken, detector.late)
        refused = RejectionReason.allCases.compactMap { reason in
            detector.refused[reason].map { NamedCount(reason.rawValue, $0) }
        }
        moved = detector.moved.prefix(Self.movedLimit).map { one in
            Moved(
                id: one.station, latitude: one.place.latitude, longitude: one.place.longitude,
                distance: (one.kilometres * 100).rounded() / 100)
        }
        (missing, self.asked, lost) = (watch.missing, asked, watch.lost)
        self.published = published
    }
}

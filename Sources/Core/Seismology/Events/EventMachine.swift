extension DetectionConfiguration {
    /// Settings by which triggers become events.
    public struct Event: Sendable, Equatable {
        /// Detectors that must be on.
        public var votes = 1
        /// Seconds.
        public var preEvent = 10.0
        public var postEvent = 15.0
        public var maximum = 300.0
        public var deadTime = 5.0
        /// Events below this intensity (first scale) are not published.
        public var minimumIntensity = 0.0
        /// A network of stations may mark events as confirmed.
        public var confirmation = true
    }
}

/// When an event begins and ends. Pure: it sees only how many detectors are on at each sample.
///
/// On when `votes` detectors are on; off when none has been on for `postEvent`; closed at `maximum`, and opened anew if
/// a detector is still on; silent for `deadTime` after an end.
public struct EventMachine: Sendable {
    /// All lengths in samples.
    public struct Settings: Sendable, Equatable {
        public var votes: Int
        public var postEvent: Int
        public var maximum: Int
        public var deadTime: Int

        public init(votes: Int, postEvent: Int, maximum: Int, deadTime: Int) {
            self.votes = max(1, votes)
            self.postEvent = max(1, postEvent)
            self.maximum = max(1, maximum)
            self.deadTime = max(0, deadTime)
        }
    }

    /// Action after a sample.
    public enum Action: Sendable, Equatable {
        case none
        /// An event begins at this sample.
        case begin
        /// The event ends with this sample.
        case end
        /// The event ends with this sample because it has become too long, and the next begins with it.
        case endAndBegin
    }

    private enum Phase: Sendable, Equatable {
        case idle
        case active(onset: Int64, lastOn: Int64)
        case dead(until: Int64)
    }

    public let settings: Settings
    private var phase = Phase.idle

    public init(_ settings: Settings) { self.settings = settings }

    /// Other settings for what another machine is in the middle of.
    public init(_ settings: Settings, goingOnFrom old: EventMachine) {
        self.settings = settings
        phase = old.phase
    }

    public var isActive: Bool {
        if case .active = phase { return true }
        return false
    }

    /// The next sample.
    /// - Parameters:
    ///   - on: how many detectors are on.
    ///   - index: the sample's number, which rises by more than one over a gap.
    public mutating func step(on: Int, index: Int64) -> Action {
        switch phase {
        case .active(let onset, var lastOn):
            if on > 0 { lastOn = index }
            if index - lastOn >= Int64(settings.postEvent) {
                phase = rest(after: index)
                return .end
            }
            if index - onset >= Int64(settings.maximum) {
                guard on > 0 else {
                    phase = rest(after: index)
                    return .end
                }
                phase = .active(onset: index, lastOn: lastOn)
                return .endAndBegin
            }
            phase = .active(onset: onset, lastOn: lastOn)
            return .none
        case .dead(let until) where index < until:
            return .none
        case .idle, .dead:
            guard on >= settings.votes else {
                phase = .idle
                return .none
            }
            phase = .active(onset: index, lastOn: index)
            return .begin
        }
    }

    /// Samples are missing: an open event may have ended meanwhile, no detector having been on.
    /// - Parameter index: of the first sample behind the gap.
    /// - Returns: the index at which it ended, of a sample that is missing; nil: it goes on, or there is none.
    public mutating func miss(until index: Int64) -> Int64? {
        guard case .active(let onset, let lastOn) = phase else { return nil }
        let end = min(lastOn + Int64(settings.postEvent), onset + Int64(settings.maximum))
        guard end < index else { return nil }
        phase = rest(after: end)
        return end
    }

    /// The phase behind the end of an event.
    private func rest(after end: Int64) -> Phase {
        settings.deadTime > 0 ? .dead(until: end + Int64(settings.deadTime)) : .idle
    }

    /// Ends an open event now, for the end of a recording or an orderly stop.
    public mutating func close() -> Action {
        defer { phase = .idle }
        return isActive ? .end : .none
    }
}

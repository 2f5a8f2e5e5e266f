import Commands
import Messages

/// When Home Assistant is told what, and what is taken away from it again. Pure: time is passed in (ns of the monotonic
/// clock), what is to be done comes out.
struct HomeAssistantSchedule {
    enum Action: Equatable {
        /// Empties all topics that may have been announced there.
        case retract(HomeAssistantPlace)
        case announce(HomeAssistantStation, HomeAssistantPlace)
        /// All states, for a Home Assistant that has just heard of them.
        case repeatStates
        /// The configuration in force, because somebody believes that it is another.
        case repeatConfiguration
        /// Where there may be something to take away, for the time after a restart.
        case remember([HomeAssistantPlace])
    }

    /// Several things change at once, such as when a sensor is found: they are told together.
    static let calm: Int64 = 1_000_000_000
    /// Home Assistant needs some time to take a device away before it hears of it in another form.
    static let farewell: Int64 = 2_000_000_000
    /// From its birth to our answer, at random: a whole school must not answer at once.
    static let shortest: Int64 = 500_000_000
    static let longest: Int64 = 8_000_000_000
    /// Two answers are not closer than this, nor two repetitions of the configuration closer than the other.
    static let birthPause: Int64 = 10_000_000_000
    static let configurationPause: Int64 = 1_000_000_000
    /// After an announcement Home Assistant subscribes to the states.
    static let subscribing: Int64 = 2_000_000_000
    /// On a busy machine it takes longer than that. Where the broker keeps nothing (a cluster), it gets the states then.
    static let subscribingLate: Int64 = 20_000_000_000
    /// So long after a connection everything that waited has been delivered.
    static let delivery: Int64 = 30_000_000_000

    private(set) var place: HomeAssistantPlace?
    private var station: HomeAssistantStation?
    private var base = ""
    /// Where something may be that is to go, until it has gone for sure.
    private var former: [HomeAssistantPlace]
    private var actions: [Action] = []
    private var announceAt: Int64?
    private var statesAt: Int64?
    private var statesAgainAt: Int64?
    private var configurationAt: Int64?
    private var forgetAt: Int64?
    private var answered = Int64.min / 2
    private var repeated = Int64.min / 2
    private var isFirst = true

    /// - Parameter remembered: where a run before this one has announced something.
    init(remembered: [HomeAssistantPlace] = []) { former = remembered }

    /// Sets the announcement and its place; nil: nothing.
    /// - Parameter base: what the station's topics begin with, which is in the announcement too.
    mutating func want(_ station: HomeAssistantStation, at place: HomeAssistantPlace?, base: String, now: Int64) {
        let isElsewhere = place != self.place || isFirst
        guard isElsewhere || (place != nil && (station != self.station || base != self.base)) else { return }
        var wait = Self.calm
        if isElsewhere {
            let before = self.place.map { [$0] } ?? (isFirst ? former : [])
            if let old = self.place { former.append(old) }
            former.removeAll { $0 == place }
            for old in before where old != place {
                actions.append(.retract(old))
                wait = Self.farewell
            }
            actions.append(.remember(former + (place.map { [$0] } ?? [])))
            if !former.isEmpty { forgetAt = nil }
        }
        (self.place, self.station, self.base, isFirst) = (place, station, base, false)
        announceAt = place == nil ? nil : max(now + wait, announceAt ?? 0)
        if place == nil { (statesAt, statesAgainAt, configurationAt) = (nil, nil, nil) }
    }

    /// Home Assistant says that it has started.
    /// - Parameter random: any number.
    mutating func born(now: Int64, random: UInt64) {
        guard place != nil, statesAt == nil else { return }
        let delay = Int64(random.fraction * Double(Self.longest - Self.shortest)) + Self.shortest
        let at = max(now + delay, answered + Self.birthPause)
        announceAt = min(announceAt ?? .max, at)
        statesAt = at + Self.subscribing
        statesAgainAt = at + Self.subscribingLate
        answered = at
    }

    /// A change of settings was not taken: Home Assistant shows what was asked for.
    mutating func refused(now: Int64) {
        guard place != nil, configurationAt == nil else { return }
        configurationAt = max(now, repeated + Self.configurationPause)
    }

    /// Actions that are due now.
    mutating func due(now: Int64, isConnected: Bool) -> [Action] {
        if !isConnected || former.isEmpty {
            forgetAt = nil
        } else if forgetAt == nil {
            forgetAt = now + Self.delivery
        }
        var list = actions
        actions = []
        if let at = announceAt, now >= at, let station, let place {
            announceAt = nil
            list.append(.announce(station, place))
        }
        if let at = statesAt, now >= at {
            statesAt = nil
            list.append(.repeatStates)
        }
        if let at = statesAgainAt, now >= at {
            statesAgainAt = nil
            list.append(.repeatStates)
        }
        if let at = configurationAt, now >= at {
            (configurationAt, repeated) = (nil, now)
            list.append(.repeatConfiguration)
        }
        if let at = forgetAt, now >= at {
            (former, forgetAt) = ([], nil)
            list.append(.remember(place.map { [$0] } ?? []))
        }
        return list
    }
}

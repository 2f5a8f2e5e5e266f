import Messages
import Propagation

/// Decides who is told what, and when: one message for each earthquake and recipient, quiet hours, a limit by the hour, a
/// weekly test. It has no clock and sends nothing; what it says has been decided once, also after a restart with what was
/// ``told`` and ``held``.
struct Notifier: Sendable {
    /// A record that somebody was told something, for the next run.
    struct SentNotice: Sendable, Equatable {
        var recipient: String
        var key: String
        var edition: Int
        var isUrgent: Bool
        /// Nanoseconds of UTC.
        var time: Int64
    }

    /// A message that waits for the end of the quiet hours, or for the hour's limit.
    struct Held: Sendable, Equatable {
        var recipient: String
        var key: String
        var title: String
        /// Nanoseconds of UTC.
        var time: Int64
    }

    /// Shaking at several stations is one earthquake while their onsets lie within this of the first, ns.
    static let together: Int64 = 60_000_000_000
    /// Intensity from which a message goes through quiet hours and limits (Mercalli V: felt by nearly everybody).
    static let urgentIntensity = 5.0
    /// Where a message is replaced by later editions: so long after the one before, ns, and so often at most.
    private static let betweenEditions: Int64 = 10_000_000_000
    private static let mostEditions = 60
    private static let hour: Int64 = 3_600_000_000_000
    private static let mostHeld = 50
    private static let mostEntries = 2000

    private struct Incident: Sendable {
        var key: String
        var start: Int64
        var shakings: [String: Occasion.Shaking] = [:]
        var quake: NetworkEventReading?
        /// Somebody may have to be told more than was said.
        var isChanged = false
    }

    private struct Words: Sendable, Equatable {
        var title: String
        var text: String
        /// Address that a click opens.
        var link: String
        var isUrgent: Bool
        /// About an earthquake that is disputed.
        var isDisputed = false
        /// False for what only corrects an earlier message: nobody else is told.
        var isNews = true
    }

    private struct Entry: Sendable {
        var edition: Int
        var isUrgent: Bool
        var words: Words?
        /// Whether all that was told until now was of a disputed earthquake.
        var isDisputed = false
        var time: Int64
    }

    /// Where a message comes from. Each source has a budget, so that one that makes things up uses up its own alone.
    private enum Source: Hashable, Sendable {
        /// The network's detector: an earthquake of many stations.
        case network
        /// One station alone.
        case station(String)
        /// Several stations at one time, the broker's connection, a digest.
        case several
    }

    private struct Sending: Sendable {
        var time: Int64
        var source: Source
        var isUrgent: Bool
    }

    private let recipients: [Recipient]
    private let clock: CivilTime
    private let page: String
    private let test: WeekTime?
    private var incidents: [Incident] = []
    private var entries: [String: [String: Entry]] = [:]
    /// Messages to each recipient in the last hour.
    private var sent: [String: [Sending]] = [:]
    private var weeks: [String: Int] = [:]
    /// Messages that wait, in their order.
    private(set) var held: [Held]
    /// Messages that the hour's limit held back.
    private(set) var limited = 0

    /// - Parameters:
    ///   - page: the address of the page, which a click opens; empty: none.
    ///   - test: when a message says each week that messages arrive; nil: never.
    ///   - told: of the run before; see ``SentNotice``.
    ///   - held: of the run before.
    ///   - now: nanoseconds of UTC.
    init(
        _ recipients: [Recipient], clock: CivilTime, page: String, test: WeekTime?, told: [SentNotice], held: [Held],
        now: Int64
    ) {
        (self.recipients, self.clock, self.page, self.test) = (recipients, clock, page, test)
        let names = Set(recipients.map(\.name))
        self.held = held.filter { names.contains($0.recipient) }
        for one in told where names.contains(one.recipient) {
            entries[one.recipient, default: [:]][one.key] = Entry(
                edition: one.edition, isUrgent: one.isUrgent, words: nil, time: one.time)
            if one.key.hasPrefix("weekly-"), let week = Int(one.key.dropFirst(7)) {
                weeks[one.recipient] = max(week, weeks[one.recipient] ?? week)
            }
        }
        for key in told.map(\.key) + held.map(\.key) {
            guard let start = Self.start(of: key), now - start < Self.hour,
                !incidents.contains(where: { $0.key == key })
            else { continue }
            incidents.append(Incident(key: key, start: start))
        }
        // The first week's test is not made up for.
        if let test {
            for one in recipients where weeks[one.name] == nil { weeks[one.name] = clock.week(now, since: test) }
        }
    }

    /// Records that the next run needs, so that it says nothing twice.
    var told: [SentNotice] {
        entries.flatMap { name, keys in
            keys.map {
                SentNotice(
                    recipient: name, key: $0.key, edition: $0.value.edition, isUrgent: $0.value.isUrgent,
                    time: $0.value.time)
            }
        }.sorted { ($0.recipient, $0.key) < ($1.recipient, $1.key) }
    }

    /// Takes what has happened.
    /// - Returns: what is to be sent now.
    mutating func take(_ occasion: Occasion, now: Int64) -> [Notice] {
        forget(now)
        switch occasion {
        case .shaking(let one):
            let at = place(ofOnset: one.onset) {
                $0.shakings[one.station]?.eventID == one.eventID
                    || $0.quake?.stations?.contains { $0.eventID == one.eventID } ?? false
            }
            // What comes late of a version that is not the last is no news.
            incidents[at].shakings[one.station] = one
            incidents[at].isChanged = true
            return tell(incidents[at], now)
        case .earthquake(let one, let origin):
            let ids = Self.eventIDs(of: one)
            let at = place(ofOnset: origin, isOpen: { !Self.isTaken($0, for: one, ids) }) { incident in
                incident.quake?.eventID == one.eventID
                    || !Self.isTaken(incident, for: one, ids)
                        && incident.shakings.values.contains { ids.contains($0.eventID) }
            }
            if let known = incidents[at].quake, known.eventID == one.eventID, known.version >= one.version { return [] }
            // The larger part of an event that fell apart stays what it is.
            if one.isMerged { return [] }
            incidents[at].quake = one
            incidents[at].isChanged = true
            gather(ids, at)
            return tell(incidents[at], now)
        case .offline(let station, let since):
            return simple(
                Self.offline + station, station, now, title: "A station is offline",
                text: "It has been away since \(clock.moment(since))."
            ) { $0.rules.offline }
        case .brokerAway(let since):
            return simple(
                Self.brokerKey, nil, now, title: "The broker cannot be reached",
                text: "Nothing is known of any station since \(clock.moment(since))."
            ) { $0.rules.offline }
        case .brokerBack:
            return back(Self.brokerKey, nil, now, title: "The broker is there again")
        case .online(let station):
            return back(Self.offline + station, station, now, title: "A station is online again")
        case .alert(let station, let code, let since, let severity, let message):
            let prefix = "alert/\(station)/\(code)/"
            let key = prefix + "\(since)"
            // What was before it is over, whether that was heard of or not.
            drop { $0.hasPrefix(prefix) && $0 != key }
            let sentence = message.hasSuffix(".") ? message : "\(message)."
            return simple(key, station, now, title: "Alert: \(code)", text: "\(sentence) Since \(clock.moment(since)).")
            {
                $0.rules.alerts.map { severity >= $0 } ?? false || $0.rules.codes.contains(code)
            }
        case .alertOver(let station, let code):
            drop { $0.hasPrefix("alert/\(station)/\(code)/") }
            return []
        }
    }

    /// Messages that follow from time alone: digests after quiet hours, weekly tests.
    /// - Parameter stations: how many are online and offline, for the weekly test; nil while the broker cannot be reached.
    mutating func tick(now: Int64, stations: (online: Int, offline: Int)?) -> [Notice] {
        forget(now)
        var deliveries = laterEditions(now)
        for recipient in recipients {
            if let test {
                let week = clock.week(now, since: test)
                if week > weeks[recipient.name] ?? week {
                    weeks[recipient.name] = week
                    entries[recipient.name] = entries[recipient.name]?.filter { !$0.key.hasPrefix("weekly-") }
                    deliveries.append(
                        note(
                            Notice(
                                recipient: recipient.name, key: "weekly-\(week)", edition: 1, title: "Weekly test",
                                text: "Messages of your seismic stations arrive here. \(Self.state(stations))",
                                priority: .low,
                                click: page),
                            isUrgent: false, words: nil, now))
                }
            }
            let lines = held.filter { $0.recipient == recipient.name }
            guard !lines.isEmpty, !isQuiet(recipient, now), hasRoom(recipient, .several, urgent: false, now) else {
                continue
            }
            held.removeAll { $0.recipient == recipient.name }
            sent[recipient.name, default: []].append(Sending(time: now, source: .several, isUrgent: false))
            deliveries.append(
                Notice(
                    recipient: recipient.name, key: "digest-\(now)", edition: 1,
                    title: lines.count == 1 ? lines[0].title : "\(lines.count) messages were held back",
                    text: lines.map { "\(clock.moment($0.time))  \($0.title)" }.joined(separator: "\n"),
                    priority: .ordinary, click: page))
        }
        return deliveries
    }

    private static func state(_ stations: (online: Int, offline: Int)?) -> String {
        guard let stations else { return "But the broker cannot be reached now." }
        return "\(stations.online) of \(stations.online + stations.offline) stations are online."
    }

    // MARK: earthquakes

    /// Prefix of the keys of stations that are offline.
    static let offline = "offline/"
    /// Key of a broker that is away.
    static let brokerKey = "broker"

    private static func start(of key: String) -> Int64? { key.hasPrefix("quake-") ? Int64(key.dropFirst(6)) : nil }

    /// The incident that something belongs to; a new one where there is none.
    /// - Parameters:
    ///   - isOpen: whether an incident of about that time is one that it may belong to.
    ///   - isPart: whether it belongs to an incident, whatever the time.
    private mutating func place(
        ofOnset onset: Int64, isOpen: (Incident) -> Bool = { _ in true }, isPart: (Incident) -> Bool
    ) -> Int {
        if let at = incidents.lastIndex(where: isPart) { return at }
        var nearest: (away: Int64, at: Int)?
        for (at, one) in incidents.enumerated() where isOpen(one) {
            let away = abs(one.start - onset)
            if away <= Self.together, away <= nearest?.away ?? .max { nearest = (away, at) }
        }
        if let nearest { return nearest.at }
        var start = onset
        while incidents.contains(where: { $0.start == start }) { start += 1 }
        incidents.append(Incident(key: "quake-\(start)", start: start))
        return incidents.count - 1
    }

    /// Whether an incident has an earthquake that another one does not take the place of: two earthquakes within a minute are
    /// two incidents, and whoever invents one that is disputed would silence a real one. Where both have the stations' events
    /// in common, they are one earthquake under two names.
    /// - Parameter ids: those of the stations' events of `quake`.
    private static func isTaken(_ incident: Incident, for quake: NetworkEventReading, _ ids: Set<String>) -> Bool {
        guard let known = incident.quake, known.eventID != quake.eventID, known.dispute == nil, !known.isWithdrawn
        else { return false }
        return quake.dispute != nil || !isSame(eventIDs(of: known), ids)
    }

    /// Whether two earthquakes share half of the stations' events of the one that has fewer.
    private static func isSame(_ ids: Set<String>, _ others: Set<String>) -> Bool {
        let shared = ids.intersection(others).count
        return shared > 0 && 2 * shared >= min(ids.count, others.count)
    }

    private static func eventIDs(of quake: NetworkEventReading?) -> Set<String> {
        Set((quake?.stations ?? []).compactMap(\.eventID))
    }

    /// Gives an incident the shakings of its earthquake that came before it was known, and were taken for another one's.
    private mutating func gather(_ ids: Set<String>, _ at: Int) {
        guard let quake = incidents[at].quake, quake.dispute == nil, !quake.isWithdrawn else { return }
        for other in incidents.indices where other != at {
            let own = Self.eventIDs(of: incidents[other].quake)
            for (station, shaking) in incidents[other].shakings
            where ids.contains(shaking.eventID) && !own.contains(shaking.eventID) {
                incidents[other].shakings[station] = nil
                incidents[at].shakings[station] = shaking
            }
        }
    }

    private mutating func tell(_ incident: Incident, _ now: Int64) -> [Notice] {
        var deliveries: [Notice] = []
        for recipient in recipients {
            guard let words = words(for: recipient, incident) else { continue }
            deliveries += offer(recipient, incident.key, words, of: Self.source(of: incident), now)
        }
        return deliveries
    }

    private static func source(of incident: Incident) -> Source {
        // (What is disputed may be invented, and has no part in the budget of earthquakes.)
        if let quake = incident.quake, !quake.isWithdrawn, quake.dispute == nil { return .network }
        guard incident.shakings.count == 1, let station = incident.shakings.keys.first else { return .several }
        return .station(station)
    }

    /// Editions that were too early before, and are due now.
    private mutating func laterEditions(_ now: Int64) -> [Notice] {
        var deliveries: [Notice] = []
        for at in incidents.indices where incidents[at].isChanged {
            let key = incidents[at].key
            deliveries += tell(incidents[at], now)
            incidents[at].isChanged = recipients.contains { recipient in
                let time = entries[recipient.name]?[key]?.time ?? .min / 2
                return now - time < Self.betweenEditions
            }
        }
        return deliveries
    }

    /// The text of an incident for a recipient; nil where the rules say that it is nothing to them.
    private func words(for recipient: Recipient, _ incident: Incident) -> Words? {
        let rules = recipient.rules
        let own = incident.shakings.values.filter {
            recipient.stations.isEmpty || recipient.stations.contains($0.station)
        }
        let wanted = own.filter { one in
            one.alarm && rules.alarm || one.likely == "earthquake" && rules.earthquake
                || (one.intensity ?? 0) >= rules.intensity ?? .infinity
        }
        let isTold = entries[recipient.name]?[incident.key] != nil
        let isHeld = held.contains { $0.recipient == recipient.name && $0.key == incident.key }
        let one = incident.quake.flatMap { quake in
            // (What is disputed has no magnitude any more, so that the rules may not name it any longer.)
            let isCorrected = quake.dispute != nil && rules.namesNetwork && (isTold || isHeld)
            return isCorrected || Self.isWanted(quake, by: recipient) ? quake : nil
        }
        let isWithdrawn = one?.isWithdrawn ?? false
        let dispute = isWithdrawn ? nil : one?.dispute
        // The stations' own reasons hold, whatever is disputed.
        let quake = dispute != nil && !wanted.isEmpty ? nil : one
        let isNews = !wanted.isEmpty || quake != nil && !isWithdrawn && (dispute == nil || rules.disputed)
        guard isNews || isTold || isHeld && (isWithdrawn || dispute != nil) else { return nil }
        // A test is one as long as nothing real has come.
        let isTest = quake == nil && !own.isEmpty && own.allSatisfy(\.isTest)
        let strongest = own.max { ($0.intensity ?? 0, $1.station) < ($1.intensity ?? 0, $0.station) }
        let isDisputed = quake != nil && dispute != nil
        let expected = quake.flatMap { isDisputed ? nil : Self.expected($0, recipient) }
        // What is far away is no reason to wake somebody.
        let others = isDisputed ? nil : expected ?? quake?.intensity
        let intensity = [strongest?.intensity, others].compactMap(\.self).max()
        let safe = (own.map(\.safeIntensity) + [others]).compactMap(\.self).max()
        let alarm = own.contains { $0.alarm && rules.alarm && !$0.isTest }
        var title: String
        if isWithdrawn {
            title = "No earthquake after all"
        } else if isDisputed {
            title = "Disputed earthquake"
        } else if let quake {
            title = quake.magnitude.map { "Earthquake M \(Self.short($0.value))" } ?? "Earthquake"
        } else if own.contains(where: { $0.likely == "earthquake" }) {
            title = alarm ? "Alarm: probably an earthquake" : "Shaking, probably an earthquake"
        } else {
            title = alarm ? "Alarm: shaking" : "Shaking"
        }
        if let intensity, !isWithdrawn, !isDisputed {
            title += ", \(expected == nil ? "" : "here ")intensity \(Self.roman(intensity))"
            if strongest?.isCertain == false, intensity == strongest?.intensity { title += " (not certain)" }
        }
        if isTest { title = "Test: \(title)" }
        var sentences = ["Time: \(clock.moment(quake?.origin ?? incident.start))."]
        let count = max(own.count, quake?.stations?.count ?? 0)
        sentences.append(count == 1 ? "1 station has felt it." : "\(count) stations have felt it.")
        let reasons = Set(wanted.map(\.eventID))
        if let dispute, let stations = one.map({ $0.stations ?? [] }),
            isDisputed || stations.contains(where: { reasons.contains($0.eventID ?? "") })
        {
            sentences.append(dispute.sentence)
        }
        if recipient.names, let strongest { sentences.append("Strongest at \(strongest.station).") }
        if recipient.places, let place = quake?.knownPlace {
            sentences.append("Epicentre: \(Self.short(place.latitude, 2)), \(Self.short(place.longitude, 2)).")
        }
        if recipient.places, let place = quake?.knownPlace, let here = recipient.here {
            let distance = here.distance(to: place)
            sentences.append("\(Int(distance.rounded())) km from here.")
        }
        return Words(
            title: title, text: sentences.joined(separator: " "), link: link(to: quake, strongest, recipient),
            isUrgent: !isTest && !isWithdrawn && !isDisputed && (alarm || (safe ?? 0) >= Self.urgentIntensity),
            isDisputed: isDisputed, isNews: isNews)
    }

    /// Whether the rules want it. An unknown magnitude or place does not block a message, but a rule on intensity needs
    /// one.
    private static func isWanted(_ quake: NetworkEventReading, by recipient: Recipient) -> Bool {
        let rules = recipient.rules
        guard rules.namesNetwork else { return false }
        if let least = rules.magnitude, let magnitude = quake.magnitude?.value, magnitude < least { return false }
        if let most = rules.distance, let here = recipient.here, let place = quake.knownPlace,
            here.distance(to: place) > most
        {
            return false
        }
        if let least = rules.expected { return expected(quake, recipient) ?? 0 >= least }
        return true
    }

    /// The intensity where the recipient is; nil where it is not known.
    private static func expected(_ quake: NetworkEventReading, _ recipient: Recipient) -> Double? {
        guard let here = recipient.here, let place = quake.knownPlace, let magnitude = quake.magnitude?.value else {
            return nil
        }
        let (distance, depth) = (here.distance(to: place), quake.depth ?? 10)
        return IntensityPrediction.intensity(
            magnitude: magnitude, distance: (distance * distance + depth * depth).squareRoot())
    }

    /// The page at the event. (The address of a station's event has the station's name in it.)
    private func link(
        to quake: NetworkEventReading?, _ shaking: Occasion.Shaking?, _ recipient: Recipient
    ) -> String {
        guard !page.isEmpty, !page.contains("#") else { return page }
        if let quake { return "\(page)#/earthquake/\(quake.eventID)" }
        if recipient.names, let shaking { return "\(page)#/station/\(shaking.station)/event/\(shaking.eventID)" }
        return page
    }

    private static func roman(_ intensity: Double) -> String {
        let numerals = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"]
        return numerals[min(max(Int(intensity.rounded()), 1), 12) - 1]
    }

    private static func short(_ number: Double, _ digits: Int = 1) -> String {
        let scale = digits == 1 ? 10.0 : 100.0
        let value = Int((abs(number) * scale).rounded())
        let rest = value % Int(scale)
        let fraction = digits == 2 && rest < 10 ? "0\(rest)" : "\(rest)"
        return "\(number < 0 && value > 0 ? "-" : "")\(value / Int(scale)).\(fraction)"
    }

    // MARK: limits

    /// - Parameter station: what it is about; nil: not a station.
    private mutating func simple(
        _ key: String, _ station: String?, _ now: Int64, title: String, text: String, _ isWanted: (Recipient) -> Bool
    ) -> [Notice] {
        var deliveries: [Notice] = []
        for recipient in recipients where isWanted(recipient) && entries[recipient.name]?[key] == nil {
            if let station, !recipient.stations.isEmpty, !recipient.stations.contains(station) { continue }
            let name = recipient.names ? station.map { ": \($0)" } ?? "" : ""
            deliveries += offer(
                recipient, key, Words(title: title + name, text: text, link: page, isUrgent: false),
                of: station.map { .station($0) } ?? .several, now)
        }
        return deliveries
    }

    /// Takes back what was said under a key. Recovery is sent to those who got the outage.
    private mutating func back(_ key: String, _ station: String?, _ now: Int64, title: String) -> [Notice] {
        let told = Set(entries.filter { $0.value[key] != nil }.keys)
        drop { $0 == key }
        let result = simple("back/\(key)", station, now, title: title, text: "") { told.contains($0.name) }
        drop { $0 == "back/\(key)" }
        return result
    }

    /// Forgets what was told, so that it may be told again, and does not tell any more what waits. (That something is back
    /// again goes on waiting.)
    private mutating func drop(_ isOver: (String) -> Bool) {
        held.removeAll { isOver($0.key) && !$0.key.hasPrefix("back/") }
        for name in entries.keys { entries[name] = entries[name]?.filter { !isOver($0.key) } }
    }

    /// Sends it, holds it back, or leaves it.
    private mutating func offer(
        _ recipient: Recipient, _ key: String, _ words: Words, of source: Source, _ now: Int64
    ) -> [Notice] {
        let entry = entries[recipient.name]?[key]
        var isUrgent = words.isUrgent
        guard entry != nil || words.isNews else {
            hold(Held(recipient: recipient.name, key: key, title: words.title, time: now))
            return []
        }
        // The first word of an earthquake that is not disputed is as one that nobody has heard of.
        let isFirst = entry.map { $0.isDisputed && !words.isDisputed && words.isNews } ?? true
        if let entry, !isFirst {
            let canReplace = if case .ntfy(_, _, let updates) = recipient.service { updates } else { false }
            let isWorse = words.isUrgent && !entry.isUrgent && hasRoom(recipient, source, urgent: true, now)
            let isDue = now - entry.time >= Self.betweenEditions && entry.edition < Self.mostEditions
            guard isWorse || canReplace && isDue && entry.words != words && !isQuiet(recipient, now) else { return [] }
            if isWorse {
                sent[recipient.name, default: []].append(Sending(time: now, source: source, isUrgent: true))
            }
            isUrgent = isWorse
        } else {
            let mustWait = !words.isUrgent && isQuiet(recipient, now)
            if mustWait || !hasRoom(recipient, source, urgent: words.isUrgent, now) {
                let isNew = !held.contains { $0.recipient == recipient.name && $0.key == key }
                if !mustWait, isNew { limited += 1 }
                hold(Held(recipient: recipient.name, key: key, title: words.title, time: now))
                return []
            }
            sent[recipient.name, default: []].append(
                Sending(time: now, source: source, isUrgent: words.isUrgent))
        }
        held.removeAll { $0.recipient == recipient.name && $0.key == key }
        // An edition that takes the place of another makes no noise a second time.
        let priority: Notice.Priority = isUrgent ? .urgent : isFirst ? .ordinary : .low
        return [
            note(
                Notice(
                    recipient: recipient.name, key: key, edition: (entry?.edition ?? 0) + 1, title: words.title,
                    text: words.text, priority: priority, click: words.link),
                isUrgent: isUrgent || entry?.isUrgent ?? false, words: words, now)
        ]
    }

    private mutating func hold(_ one: Held) {
        if let at = held.firstIndex(where: { $0.recipient == one.recipient && $0.key == one.key }) {
            held[at].title = one.title
        } else if held.filter({ $0.recipient == one.recipient }).count < Self.mostHeld {
            held.append(one)
        }
    }

    private mutating func note(_ delivery: Notice, isUrgent: Bool, words: Words?, _ now: Int64) -> Notice {
        entries[delivery.recipient, default: [:]][delivery.key] = Entry(
            edition: delivery.edition, isUrgent: isUrgent, words: words,
            isDisputed: words?.isDisputed ?? false
                && entries[delivery.recipient]?[delivery.key].map(\.isDisputed) ?? true,
            time: now)
        if let all = entries[delivery.recipient], all.count > Self.mostEntries,
            let oldest = all.min(by: { $0.value.time < $1.value.time })
        {
            entries[delivery.recipient]?[oldest.key] = nil
        }
        return delivery
    }

    private func isQuiet(_ recipient: Recipient, _ now: Int64) -> Bool {
        recipient.quiet?.contains(clock.minute(now)) ?? false
    }

    /// Whether the hour's limit, ``Recipient/hourly``, leaves room. Earthquakes of the network have it for themselves; all else
    /// together has it once, and one station at most half of it (one message at least).
    private func hasRoom(_ recipient: Recipient, _ source: Source, urgent: Bool, _ now: Int64) -> Bool {
        let last = (sent[recipient.name] ?? []).filter { now - $0.time < Self.hour && $0.isUrgent == urgent }
        let own = last.count { $0.source == source }
        switch source {
        case .network: return own < recipient.hourly
        case .station where own >= max(recipient.hourly / 2, 1): return false
        case .station, .several: return last.count { $0.source != .network } < recipient.hourly
        }
    }

    private mutating func forget(_ now: Int64) {
        incidents.removeAll { now - $0.start > Self.hour }
        for name in sent.keys { sent[name]?.removeAll { now - $0.time >= Self.hour } }
        for name in entries.keys {
            entries[name] = entries[name]?.filter { key, entry in
                Self.start(of: key).map { now - $0 <= Self.hour } ?? true
            }
        }
    }
}

import Messages
import Propagation
import Testing

@testable import seismote_notify

/// Who is told what, and when.
@Suite struct NotifierTests {
    private static let second: Int64 = 1_000_000_000
    private static let minute: Int64 = 60 * second
    /// 2026-11-24 12:00 UTC, a Tuesday.
    private static let noon: Int64 = 1_795_521_600 * second
    private static let utc = CivilTime { _ in 0 }

    private static func recipient(
        _ name: String = "anna", updates: Bool = false, quiet: String? = nil, hourly: Int = 20,
        _ rules: (inout Recipient.Rules) -> Void = { $0.intensity = 2 }
    ) throws -> Recipient {
        var one = Recipient()
        (one.name, one.ntfy) = (name, NtfyTopic("https://ntfy.example/topic"))
        (one.updates, one.hourly) = (updates, hourly)
        one.quiet = try quiet.map { try #require(DayTime($0)) }
        rules(&one.rules)
        return one
    }

    private static func notifier(
        _ recipients: [Recipient], told: [Notifier.SentNotice] = [], held: [Notifier.Held] = [],
        test: WeekTime? = nil, page: String = "", clock: CivilTime = utc, now: Int64 = noon
    ) -> Notifier {
        Notifier(recipients, clock: clock, page: page, test: test, told: told, held: held, now: now)
    }

    private static func shaking(
        _ station: String, at onset: Int64, _ intensity: Double, likely: String = "unclassified", alarm: Bool = false,
        isTest: Bool = false, isCertain: Bool = true, safe: Double? = nil
    ) -> Occasion {
        .shaking(
            .init(
                station: station, eventID: "\(station)-\(onset)", onset: onset, intensity: intensity,
                isCertain: isCertain, safeIntensity: isCertain ? intensity : safe, likely: likely,
                probability: nil, alarm: alarm, isTest: isTest))
    }

    private static func quake(
        version: Int, at origin: Int64, magnitude: Double?, stations: [(String, Int64)], isWithdrawn: Bool = false,
        place: (Double, Double)? = (46.2, 7.4), id: String = "net-1", intensity: Double = 4,
        dispute: NetworkEventReading.Dispute? = nil
    ) -> Occasion {
        .quake(
            id, version: version, origin: origin, magnitude: magnitude, place: place, intensity: intensity,
            stations: stations.map { ($0.0, "\($0.0)-\($0.1)") }, dispute: dispute, isWithdrawn: isWithdrawn)
    }

    /// An intensity that a start or a gap makes uncertain is told as that, and wakes nobody; what the acceleration says does,
    /// and so does an alarm.
    @Test(arguments: [
        (7.2, false, nil as Double?, false, "Shaking, intensity VII (not certain)", false),
        (7.2, false, 4.1, false, "Shaking, intensity VII (not certain)", false),
        (7.2, false, 6.3, false, "Shaking, intensity VII (not certain)", true),
        (7.2, false, nil, true, "Alarm: shaking, intensity VII (not certain)", true),
        (7.2, true, nil, false, "Shaking, intensity VII", true),
    ]) func whatIsNotCertainWakesNobody(
        _ intensity: Double, _ isCertain: Bool, _ safe: Double?, _ alarm: Bool, _ title: String, _ isUrgent: Bool
    ) throws {
        var notifier = Self.notifier([
            try Self.recipient {
                $0.intensity = 2
                $0.alarm = true
            }
        ])
        let sent = notifier.take(
            Self.shaking("a", at: Self.noon, intensity, alarm: alarm, isCertain: isCertain, safe: safe), now: Self.noon)
        #expect(sent.map(\.title) == [title])
        #expect(sent.map { $0.priority == .urgent } == [isUrgent])
    }

    /// An earthquake that 40 stations feel, each with three versions, and the network with two: one message.
    @Test(arguments: [false, true]) func oneMessageForAnEarthquake(_ networkFirst: Bool) throws {
        var notifier = Self.notifier([
            try Self.recipient {
                $0.intensity = 2
                $0.magnitude = 3
            }
        ])
        let onsets = (0..<40).map { Self.noon + Int64($0) * Self.second }
        let stations = onsets.enumerated().map { ("s\($0.offset)", $0.element) }
        var sent: [Notice] = []
        let network = [
            Self.quake(
                version: 1, at: Self.noon - 3 * Self.second, magnitude: nil, stations: Array(stations.prefix(5))),
            Self.quake(version: 2, at: Self.noon - 3 * Self.second, magnitude: 4.6, stations: stations),
        ]
        if networkFirst { for one in network { sent += notifier.take(one, now: Self.noon + Self.second) } }
        for version in 0..<3 {
            for (station, onset) in stations {
                sent += notifier.take(
                    Self.shaking(station, at: onset, 2 + Double(version) / 2), now: onset + Int64(version) * Self.second
                )
            }
        }
        if !networkFirst { for one in network { sent += notifier.take(one, now: Self.noon + 50 * Self.second) } }
        #expect(sent.count == 1)
        #expect(sent.first?.title == (networkFirst ? "Earthquake, intensity IV" : "Shaking, intensity II"))
    }

    /// Where the service replaces a message, later versions do, under the same key; older versions do not come back.
    @Test func laterVersionsReplaceTheMessage() throws {
        var notifier = Self.notifier([
            try Self.recipient(updates: true) {
                $0.intensity = 2
                $0.magnitude = 3
            }
        ])
        var sent = notifier.take(Self.shaking("a", at: Self.noon, 3), now: Self.noon)
        var now = Self.noon + 10 * Self.second
        sent += notifier.take(
            Self.quake(version: 2, at: Self.noon, magnitude: 4.62, stations: [("a", Self.noon)]), now: now)
        #expect(notifier.take(Self.quake(version: 1, at: Self.noon, magnitude: 6, stations: []), now: now).isEmpty)
        // What comes within ten seconds waits, and of it only the last is said.
        for version in 3...20 {
            let quake = Self.quake(
                version: version, at: Self.noon, magnitude: 4.62, stations: [("a", Self.noon)],
                isWithdrawn: version == 20)
            #expect(notifier.take(quake, now: now + Int64(version) * Self.second / 4).isEmpty)
        }
        now += 10 * Self.second
        #expect(notifier.tick(now: now - 1, stations: (3, 1)).isEmpty)
        sent += notifier.tick(now: now, stations: (3, 1))
        // An older version that comes late changes nothing.
        let late = Self.quake(version: 19, at: Self.noon, magnitude: 6, stations: [])
        #expect(notifier.take(late, now: now + Self.minute).isEmpty)
        #expect(notifier.tick(now: now + 2 * Self.minute, stations: (3, 1)).isEmpty)
        #expect(
            sent.map(\.title) == [
                "Shaking, intensity III", "Earthquake M 4.6, intensity IV", "No earthquake after all",
            ])
        // What takes the place of another makes no noise again.
        #expect(sent.map(\.priority) == [.ordinary, .low, .low])
        #expect(sent.map(\.edition) == [1, 2, 3] && Set(sent.map(\.key)).count == 1)
    }

    @Test func twoEarthquakesAreTwoMessages() throws {
        var notifier = Self.notifier([try Self.recipient()])
        let first = notifier.take(Self.shaking("a", at: Self.noon, 3), now: Self.noon)
        let same = notifier.take(Self.shaking("b", at: Self.noon + Self.minute, 3), now: Self.noon)
        let second = notifier.take(Self.shaking("a", at: Self.noon + 2 * Self.minute, 3), now: Self.noon)
        #expect(first.count == 1 && same.isEmpty && second.count == 1)
    }

    /// Two earthquakes of the network within a minute are two messages, in either order, with the stations' own words before
    /// them, after them or not at all. What is said again says nothing more.
    @Test(arguments: [5, 20, 59], [0, 1, 2]) func twoEarthquakesWithinAMinute(_ apart: Int64, _ shakings: Int) throws {
        let second = Self.noon + apart * Self.second
        let west: [(String, Int64)] = ["a", "b", "c", "d"].map { ($0, Self.noon) }
        let east: [(String, Int64)] = ["e", "f", "g", "h", "i"].map { ($0, second) }
        for isReversed in [false, true] {
            var notifier = Self.notifier([try Self.recipient { $0.magnitude = 3 }])
            func words(_ version: Int) -> [Occasion] {
                let both = [
                    Self.quake(version: version, at: Self.noon, magnitude: 4, stations: west, id: "net-1"),
                    Self.quake(version: version, at: second, magnitude: 5, stations: east, id: "net-2"),
                ]
                return isReversed ? both.reversed() : both
            }
            let own = (west + east).map { Self.shaking($0.0, at: $0.1, 4) }
            var sent: [Notice] = []
            let now = second + Self.second
            if shakings == 1 { for one in own { sent += notifier.take(one, now: now) } }
            for one in words(1) { sent += notifier.take(one, now: now) }
            if shakings == 2 { for one in own { sent += notifier.take(one, now: now) } }
            for one in words(2) { sent += notifier.take(one, now: now + Self.second) }
            #expect(Set(sent.map(\.key)).count == 2, "\(sent.map(\.title))")
            #expect(sent.map(\.title).sorted() == ["Earthquake M 4.0, intensity IV", "Earthquake M 5.0, intensity IV"])
            // (The first one may count the stations of the second one, which nobody knows of by then.)
            #expect(sent.last?.text.contains(isReversed ? "4 stations" : "5 stations") == true)
        }
    }

    /// One earthquake that goes on under another name, with half of its stations' events, is one message; with one of them it
    /// is another earthquake.
    @Test(arguments: [(4, 1), (2, 1), (1, 2)]) func anotherNameOfAnEarthquake(_ shared: Int, _ messages: Int) throws {
        var notifier = Self.notifier([try Self.recipient { $0.magnitude = 3 }])
        let first: [(String, Int64)] = ["a", "b", "c", "d"].map { ($0, Self.noon) }
        let next: [(String, Int64)] = first.prefix(shared) + ["e", "f", "g", "h"].map { ($0, Self.noon) }
        var sent = notifier.take(
            Self.quake(version: 1, at: Self.noon, magnitude: 4, stations: first, id: "net-1"), now: Self.noon)
        sent += notifier.take(
            Self.quake(version: 1, at: Self.noon + Self.second, magnitude: 4, stations: Array(next), id: "net-2"),
            now: Self.noon + Self.second)
        #expect(sent.count == messages)
    }

    /// A network event without magnitude counts as large enough; a small one is nothing to those who want large ones.
    @Test func rulesDecide() throws {
        let recipients = [
            try Self.recipient("large") { $0.magnitude = 5 }, try Self.recipient("strong") { $0.intensity = 4 },
            try Self.recipient("class") { $0.earthquake = true }, try Self.recipient("siren") { _ in },
        ]
        func told(_ occasion: Occasion) -> [String] {
            var notifier = Self.notifier(recipients)
            return notifier.take(occasion, now: Self.noon).map(\.recipient)
        }
        #expect(told(Self.quake(version: 1, at: Self.noon, magnitude: 4.9, stations: [])).isEmpty)
        #expect(told(Self.quake(version: 1, at: Self.noon, magnitude: 5, stations: [])) == ["large"])
        #expect(told(Self.quake(version: 1, at: Self.noon, magnitude: nil, stations: [])) == ["large"])
        #expect(told(Self.shaking("a", at: Self.noon, 3.9)).isEmpty)
        #expect(told(Self.shaking("a", at: Self.noon, 4)) == ["strong"])
        #expect(told(Self.shaking("a", at: Self.noon, 1, likely: "earthquake")) == ["class"])
        #expect(told(Self.shaking("a", at: Self.noon, 1, alarm: true)).contains("siren"))
    }

    /// A network event by its distance, and by the intensity that is expected where the recipient is.
    @Test func whatIsExpectedHere() throws {
        func somebody(_ name: String, _ rules: (inout Recipient.Rules) -> Void) throws -> Recipient {
            var one = try Self.recipient(name, rules)
            one.here = .init(latitude: 46.2, longitude: 7.4)
            return one
        }
        let recipients = [
            try somebody("near") { ($0.intensity, $0.distance) = (nil, 100) },
            try somebody("felt") { ($0.intensity, $0.expected) = (nil, 3) },
            try somebody("both") { ($0.intensity, $0.magnitude, $0.distance) = (nil, 4, 100) },
        ]
        func told(_ magnitude: Double?, _ place: (Double, Double)?) -> [String: String] {
            var notifier = Self.notifier(recipients)
            let sent = notifier.take(
                Self.quake(version: 1, at: Self.noon, magnitude: magnitude, stations: [], place: place), now: Self.noon)
            return Dictionary(uniqueKeysWithValues: sent.map { ($0.recipient, $0.title) })
        }
        // 111 km to the north is too far for two of them, and too weak for the third.
        #expect(told(3.9, (47.2, 7.4)).isEmpty)
        #expect(told(5.5, (47.2, 7.4)) == ["felt": "Earthquake M 5.5, here intensity III"])
        #expect(told(3.9, (46.3, 7.4)).keys.sorted() == ["felt", "near"])
        // An unknown magnitude does not block a message, but there is no intensity without it.
        #expect(told(nil, nil) == ["near": "Earthquake, intensity IV", "both": "Earthquake, intensity IV"])
    }

    /// A defect: of M 6 at 15 km the siren at the station said VI and the phone VII.
    @Test func thePhoneExpectsWhatTheStationsAlarmExpects() throws {
        var one = try Self.recipient { ($0.intensity, $0.magnitude) = (nil, 4) }
        one.here = Place(latitude: 46.2 + 15 / 111.195, longitude: 7.4)
        var notifier = Self.notifier([one])
        let told = notifier.take(Self.quake(version: 1, at: Self.noon, magnitude: 6, stations: []), now: Self.noon)
        #expect(told.map(\.title) == ["Earthquake M 6.0, here intensity VI"])
    }

    /// Far away is no reason to wake somebody, whatever a station there has measured.
    @Test func whatIsStrongElsewhereWaitsForTheMorning() throws {
        var one = try Self.recipient(quiet: "22:00-07:00") { ($0.intensity, $0.magnitude) = (nil, 4) }
        let night = Self.noon + 11 * 60 * Self.minute
        func strong(_ version: Int, _ place: (Double, Double)) -> Occasion {
            guard
                case .earthquake(var quake, let origin) = Self.quake(
                    version: version, at: night, magnitude: 6, stations: [], place: place)
            else { return .brokerBack }
            quake.mmi = 8
            return .earthquake(quake, origin: origin)
        }
        var notifier = Self.notifier([one])
        #expect(notifier.take(strong(1, (46.2, 7.4)), now: night).map(\.priority) == [.urgent])
        one.here = .init(latitude: 52.5, longitude: 13.4)
        notifier = Self.notifier([one])
        #expect(notifier.take(strong(1, (46.2, 7.4)), now: night).isEmpty && notifier.held.count == 1)
        #expect(notifier.take(strong(2, (52.4, 13.4)), now: night).map(\.priority) == [.urgent])
    }

    /// A click opens the page at the event; a station's name is in it only where names are asked for.
    @Test func linksToThePage() throws {
        var open = try Self.recipient("open") { ($0.intensity, $0.magnitude) = (2, 3) }
        open.names = true
        let closed = try Self.recipient("closed") { ($0.intensity, $0.magnitude) = (2, 3) }
        var notifier = Self.notifier([open, closed], page: "https://page.example/")
        let station = notifier.take(Self.shaking("cellar", at: Self.noon, 3), now: Self.noon)
        #expect(
            station.map(\.click) == [
                "https://page.example/#/station/cellar/event/cellar-\(Self.noon)", "https://page.example/",
            ])
        let later = Self.noon + 10 * Self.minute
        let network = notifier.take(Self.quake(version: 1, at: later, magnitude: 4, stations: []), now: later)
        #expect(network.map(\.click) == Array(repeating: "https://page.example/#/earthquake/net-1", count: 2))
    }

    /// By severity, or by its code.
    @Test func alertsBySeverityAndByCode() throws {
        let recipients = [
            try Self.recipient("admin") { $0.alerts = .warning },
            try Self.recipient("site") { $0.codes = ["vibration_limit"] },
        ]
        func told(_ code: String, _ severity: Recipient.Severity) -> [String] {
            var notifier = Self.notifier(recipients)
            return notifier.take(
                .alert(station: "a", code: code, since: Self.noon, severity: severity, message: "m"), now: Self.noon
            ).map(\.recipient)
        }
        var notifier = Self.notifier(recipients)
        for message in ["It is wrong", "It is wrong."] {
            let alert = Occasion.alert(
                station: message, code: "clock", since: Self.noon, severity: .error, message: message)
            #expect(notifier.take(alert, now: Self.noon).map(\.text) == ["It is wrong. Since Tue 12:00:00."])
        }
        #expect(told("clock", .info).isEmpty && told("clock", .warning) == ["admin"])
        #expect(told("vibration_limit", .info) == ["site"] && told("vibration_limit", .error) == ["admin", "site"])
    }

    /// An alert that is raised anew is told anew, also where nobody has heard that the first one was over.
    @Test func anAlertThatComesAgain() throws {
        var notifier = Self.notifier([try Self.recipient { $0.alerts = .info }])
        func alert(_ station: String, _ since: Int64) -> Occasion {
            .alert(station: station, code: "b", since: since, severity: .error, message: "m")
        }
        #expect(notifier.take(alert("a", 1), now: Self.noon).count == 1)
        #expect(notifier.take(alert("a-b", 1), now: Self.noon).count == 1)
        #expect(notifier.take(alert("a", 1), now: Self.noon).isEmpty)
        #expect(notifier.take(alert("a", 2), now: Self.noon).count == 1)
        #expect(notifier.take(alert("a-b", 1), now: Self.noon).isEmpty)
        #expect(notifier.told.count == 2)
    }

    @Test func aListOfStationsIsKept() throws {
        var one = try Self.recipient()
        one.stations = ["mine"]
        var notifier = Self.notifier([one])
        #expect(notifier.take(Self.shaking("theirs", at: Self.noon, 8), now: Self.noon).isEmpty)
        #expect(
            notifier.take(Self.shaking("mine", at: Self.noon, 3), now: Self.noon).map(\.title) == [
                "Shaking, intensity III"
            ]
        )
    }

    /// Names and places are in the text only for those who want them.
    @Test func namesAndPlacesOnlyWhenAskedFor() throws {
        var open = try Self.recipient("open") {
            $0.intensity = 2
            $0.magnitude = 3
        }
        (open.names, open.places) = (true, true)
        let closed = try Self.recipient("closed") {
            $0.intensity = 2
            $0.magnitude = 3
            $0.offline = true
        }
        var notifier = Self.notifier([open, closed])
        _ = notifier.take(Self.shaking("cellar", at: Self.noon, 1), now: Self.noon)
        var sent = notifier.take(
            Self.quake(version: 1, at: Self.noon, magnitude: 4, stations: [("cellar", Self.noon)]), now: Self.noon)
        sent += notifier.take(.offline(station: "cellar", since: Self.noon), now: Self.noon)
        for one in sent {
            let all = one.title + one.text
            #expect(all.contains("cellar") == (one.recipient == "open"), "\(one)")
            #expect(all.contains("46.20") == (one.recipient == "open"), "\(one)")
        }
        #expect(sent.count == 3)
    }

    // MARK: quiet hours

    /// What is ordinary waits for one digest in the morning; intensity V, an alarm and nothing else come through.
    @Test func quietHours() throws {
        let night = Self.noon + 11 * 60 * Self.minute
        var notifier = Self.notifier([try Self.recipient(quiet: "22:00-07:00") { ($0.intensity, $0.alarm) = (2, true) }]
        )
        #expect(notifier.take(Self.shaking("a", at: night, 4.9), now: night).isEmpty)
        #expect(notifier.take(Self.shaking("b", at: night + 5 * Self.minute, 3), now: night).isEmpty)
        let strong = notifier.take(Self.shaking("c", at: night + 10 * Self.minute, 5), now: night)
        #expect(strong.map(\.priority) == [.urgent])
        let alarm = notifier.take(Self.shaking("d", at: night + 15 * Self.minute, 3, alarm: true), now: night)
        #expect(alarm.map(\.title) == ["Alarm: shaking, intensity III"])
        let test = Self.shaking("e", at: night + 20 * Self.minute, 9, alarm: true, isTest: true)
        #expect(notifier.take(test, now: night).isEmpty)
        let morning = Self.noon + 19 * 60 * Self.minute
        #expect(notifier.tick(now: morning - Self.minute, stations: (3, 1)).isEmpty)
        let digest = notifier.tick(now: morning, stations: (3, 1))
        #expect(digest.map(\.title) == ["3 messages were held back"])
        #expect(notifier.tick(now: morning + Self.minute, stations: (3, 1)).isEmpty)
    }

    /// What is back in quiet hours is told in the morning to those who were told that it was away.
    @Test func whatIsBackInTheNight() throws {
        let (evening, night) = (Self.noon + 9 * 60 * Self.minute, Self.noon + 11 * 60 * Self.minute)
        var notifier = Self.notifier([try Self.recipient(quiet: "22:00-07:00") { $0.offline = true }])
        #expect(notifier.take(.offline(station: "a", since: evening), now: evening).count == 1)
        #expect(notifier.take(.online(station: "a"), now: night).isEmpty)
        // What was away only at night is not told at all.
        #expect(notifier.take(.offline(station: "b", since: night), now: night).isEmpty)
        #expect(notifier.take(.online(station: "b"), now: night).isEmpty)
        #expect(
            notifier.tick(now: Self.noon + 19 * 60 * Self.minute, stations: (3, 1)).map(\.title) == [
                "A station is online again"
            ])
    }

    /// A test event during a real earthquake does not make it a test.
    @Test func aRealEarthquakeIsNoTest() throws {
        var notifier = Self.notifier([try Self.recipient { ($0.intensity, $0.magnitude) = (nil, 3) }])
        #expect(notifier.take(Self.shaking("a", at: Self.noon, 3, isTest: true), now: Self.noon).isEmpty)
        let sent = notifier.take(Self.quake(version: 1, at: Self.noon, magnitude: 5, stations: []), now: Self.noon)
        #expect(sent.map(\.title) == ["Earthquake M 5.0, intensity IV"])
    }

    /// What grows strong while it is held back is told at once, and is not in the digest.
    @Test func whatGrowsStrongInTheNightComesThrough() throws {
        let night = Self.noon + 11 * 60 * Self.minute
        var notifier = Self.notifier([try Self.recipient(quiet: "22:00-07:00")])
        #expect(notifier.take(Self.shaking("a", at: night, 3), now: night).isEmpty)
        #expect(notifier.take(Self.shaking("a", at: night, 5.5), now: night).map(\.priority) == [.urgent])
        #expect(notifier.held.isEmpty)
        #expect(notifier.take(Self.shaking("a", at: night, 6.5), now: night).isEmpty)
    }

    /// A message that was sent as an ordinary one is followed by one more when the shaking becomes strong.
    @Test func whatGrowsStrongIsToldAgain() throws {
        var notifier = Self.notifier([try Self.recipient()])
        #expect(notifier.take(Self.shaking("a", at: Self.noon, 3), now: Self.noon).map(\.priority) == [.ordinary])
        #expect(notifier.take(Self.shaking("a", at: Self.noon, 6), now: Self.noon).map(\.priority) == [.urgent])
        #expect(notifier.take(Self.shaking("a", at: Self.noon, 7), now: Self.noon).isEmpty)
    }

    @Test func theHourHasALimit() throws {
        var notifier = Self.notifier([try Self.recipient(hourly: 3)])
        var sent: [Notice] = []
        for i in 0..<10 {
            let time = Self.noon + Int64(i) * 3 * Self.minute
            sent += notifier.take(Self.shaking("s\(i)", at: time, 3), now: time)
        }
        #expect(sent.count == 3 && notifier.held.count == 7 && notifier.limited == 7)
        // What is urgent has a limit of its own, so that a sensor that is broken does not call all night.
        let urgent = (0..<10).flatMap { i in
            let time = Self.noon + Int64(31 + 2 * i) * Self.minute
            return notifier.take(Self.shaking("s\(i)", at: time, 7), now: time)
        }
        #expect(urgent.count == 3 && urgent.allSatisfy { $0.priority == .urgent })
        #expect(notifier.held.count == 14)
        #expect(notifier.tick(now: Self.noon + 59 * Self.minute, stations: (3, 1)).isEmpty)
        #expect(
            notifier.tick(now: Self.noon + 61 * Self.minute, stations: (3, 1)).map(\.title) == [
                "14 messages were held back"
            ])
    }

    /// One station that makes things up, by day and in quiet hours, uses up a budget of its own: half of the hour's messages.
    /// Those of other stations come, and all of the network's.
    @Test(arguments: [nil, "00:00-23:59" as String?]) func inventedEventsSilenceNobodyElse(quiet: String?) throws {
        var notifier = Self.notifier([
            try Self.recipient(quiet: quiet) {
                $0.alarm = true
                $0.intensity = 3
                $0.magnitude = 4
            }
        ])
        func urgent(_ occasion: Occasion, _ now: Int64) -> Int {
            notifier.take(occasion, now: now).count { $0.priority == .urgent }
        }
        let invented = (0..<25).map { i in
            let time = Self.noon + Int64(i) * 100 * Self.second
            return urgent(Self.shaking("evil", at: time, 8, alarm: true), time)
        }
        #expect(invented.reduce(0, +) == 10 && invented.prefix(10).allSatisfy { $0 == 1 })
        let later = Self.noon + 45 * Self.minute
        let others = (0..<15).map { i in
            let time = later + Int64(i) * 61 * Self.second
            return urgent(Self.shaking("b\(i)", at: time, 6, alarm: true), time)
        }
        // (From minute 60 on the hour has room again for what left it.)
        #expect(others.prefix(10).allSatisfy { $0 == 1 })
        for i in 0..<20 {
            let origin = later + Int64(i) * 61 * Self.second + 30 * Self.second
            let quake = Self.quake(
                version: 1, at: origin + 20 * Self.minute, magnitude: 7, stations: [("c", origin)], id: "net-\(i)",
                intensity: 8)
            #expect(urgent(quake, origin) == 1, "earthquake \(i) of the network")
        }
    }

    /// What is not urgent has the same budgets: alerts that come and go, and small events.
    @Test func aStationThatChattersLeavesRoomForOrdinaryMessages() throws {
        var notifier = Self.notifier([
            try Self.recipient(hourly: 4) {
                $0.alerts = .warning
                $0.intensity = 2
                $0.magnitude = 3
            }
        ])
        func alert(_ station: String, _ i: Int64) -> Int {
            let time = Self.noon + i * Self.minute
            let one = Occasion.alert(
                station: station, code: "gaps", since: time, severity: .error, message: "Samples are missing")
            return notifier.take(one, now: time).count
        }
        var sent = 0
        for minute in 0..<10 { sent += alert("evil", Int64(minute)) }
        #expect(sent == 2)
        #expect(notifier.take(Self.shaking("evil", at: Self.noon, 3), now: Self.noon + 10 * Self.minute).isEmpty)
        sent = 0
        for minute in 11..<15 { sent += alert("b", Int64(minute)) }
        #expect(sent == 2)
        let origin = Self.noon + 20 * Self.minute
        let quake = Self.quake(version: 1, at: origin, magnitude: 4, stations: [("c", origin)])
        #expect(notifier.take(quake, now: origin).map(\.priority) == [.ordinary])
    }

    // MARK: restarts

    /// A run that goes on after another says nothing twice, and keeps what was held back.
    @Test func aRestartSaysNothingTwice() throws {
        let night = Self.noon + 11 * 60 * Self.minute
        let recipients = [
            try Self.recipient("day"), try Self.recipient("night", quiet: "22:00-07:00"),
            try Self.recipient("admin") { ($0.offline, $0.alerts) = (true, .warning) },
        ]
        var first = Self.notifier(recipients, now: night)
        let alert = Occasion.alert(
            station: "a", code: "sensor_missing", since: 1, severity: .error, message: "No sensor")
        #expect(first.take(Self.shaking("a", at: night, 3), now: night).map(\.recipient) == ["day"])
        #expect(first.take(.offline(station: "b", since: night), now: night).map(\.recipient) == ["admin"])
        #expect(first.take(alert, now: night).map(\.recipient) == ["admin"])
        var second = Self.notifier(recipients, told: first.told, held: first.held, now: night)
        #expect(second.take(Self.shaking("a", at: night, 3), now: night).isEmpty)
        #expect(second.take(Self.shaking("c", at: night + 5 * Self.second, 3), now: night).isEmpty)
        #expect(second.take(.offline(station: "b", since: night), now: night).isEmpty)
        #expect(second.take(alert, now: night).isEmpty)
        #expect(second.take(.online(station: "b"), now: night).map(\.title) == ["A station is online again"])
        #expect(second.tick(now: Self.noon + 19 * 60 * Self.minute, stations: (3, 1)).map(\.recipient) == ["night"])
        #expect(second.take(.brokerAway(since: night), now: night).map(\.recipient) == ["admin"])
        #expect(second.take(.brokerAway(since: night), now: night).isEmpty)
        #expect(second.take(.brokerBack, now: night).map(\.title) == ["The broker is there again"])
        #expect(second.take(.brokerBack, now: night).isEmpty)
        // Once it is over it may come again.
        _ = second.take(.alertOver(station: "a", code: "sensor_missing"), now: night)
        #expect(second.take(alert, now: night).count == 1)
        #expect(second.take(.offline(station: "b", since: night), now: night).count == 1)
    }

    /// What was only held back is known to the next run, too: the same earthquake stays one line of the digest.
    @Test func aRestartKnowsWhatWaits() throws {
        let night = Self.noon + 11 * 60 * Self.minute
        let recipients = [try Self.recipient(quiet: "22:00-07:00")]
        var first = Self.notifier(recipients, now: night)
        #expect(first.take(Self.shaking("a", at: night, 3), now: night).isEmpty)
        var second = Self.notifier(recipients, told: first.told, held: first.held, now: night)
        #expect(second.take(Self.shaking("b", at: night + 5 * Self.second, 4), now: night).isEmpty)
        #expect(second.held.map(\.title) == ["Shaking, intensity IV"])
    }

    // MARK: quiet hours by the clock of the people

    /// Quiet hours begin and end by the local clock on the days on which it is changed.
    @Test(arguments: [
        // 2027-03-28, 02:00 CET is 03:00 CEST; 2027-10-31, 03:00 CEST is 02:00 CET.
        (day: 1_806_184_800 as Int64, before: 3600, after: 7200, change: 1_806_195_600 as Int64),
        (day: 1_824_933_600 as Int64, before: 7200, after: 3600, change: 1_824_944_400 as Int64),
    ]) func quietHoursWhenTheClockIsChanged(_ one: (day: Int64, before: Int, after: Int, change: Int64)) throws {
        let clock = CivilTime { $0 >= one.change * Self.second ? one.after : one.before }
        var notifier = Self.notifier(
            [try Self.recipient(quiet: "22:00-07:00")], clock: clock, now: one.day * Self.second)
        #expect(notifier.take(Self.shaking("a", at: one.day * Self.second, 3), now: one.day * Self.second).isEmpty)
        var digest: Int64?
        for minute in 0..<(24 * 60) where digest == nil {
            let now = (one.day + Int64(minute) * 60) * Self.second
            if !notifier.tick(now: now, stations: (3, 1)).isEmpty { digest = now }
        }
        let end = try #require(digest)
        #expect(clock.minute(end) == 7 * 60)
        // 22:00 to 07:00 are eight hours in spring and ten in autumn.
        let start = one.day * Self.second
        #expect(
            (end - start) / Self.minute == (7 * 60 - Int64(clock.minute(start)) + 1440) % 1440 + Int64(
                one.before - one.after) / 60)
    }

    // MARK: the weekly test

    /// Once a week at its minute, also over the change to daylight saving time and after a stop; not at the first start.
    @Test func theWeeklyTest() throws {
        // Central Europe: +1 h, and +2 h from 2027-03-28 01:00 UTC on.
        let clock = CivilTime { $0 >= 1_806_195_600 * Self.second ? 7200 : 3600 }
        let monday = try #require(WeekTime("mon 12:00"))
        var notifier = Self.notifier([try Self.recipient()], test: monday, clock: clock, now: Self.noon)
        var times: [Int64] = []
        var time = Self.noon
        while time < Self.noon + 140 * 1440 * Self.minute {
            if !notifier.tick(now: time, stations: (3, 1)).isEmpty { times.append(time) }
            time += 10 * Self.minute
            if times.count == 5 {
                // A stop of three weeks is one test, not three.
                notifier = Self.notifier(
                    [try Self.recipient()], told: notifier.told, test: monday, clock: clock,
                    now: time + 21 * 1440 * Self.minute)
                time += 21 * 1440 * Self.minute
                #expect(notifier.tick(now: time, stations: (3, 1)).count == 1)
                times.append(time)
            }
        }
        #expect(notifier.told.filter { $0.key.hasPrefix("weekly-") }.count == 1)
        for (index, time) in times.enumerated() where index != 5 {
            #expect(clock.weekday(time) == 0 && clock.minute(time) == 720, "\(time)")
        }
        #expect(times.count == 18)
    }
}

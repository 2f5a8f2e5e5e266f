import Messages
import TestSupport
import Testing
import Values

@testable import seismote_notify

/// Recipients as they stand in the settings.
@Suite struct RecipientTests {
    private static func refusals(_ recipient: String) -> [String] {
        do throws(CodedErrors) {
            _ = try NotifySettings.load(file: Array("notify: {recipients: [\(recipient)]}".utf8), overrides: [])
            return []
        } catch { return error.errors.map { $0.text(fileName: "notify.yaml") } }
    }

    @Test func theWholeOfOne() throws {
        let file = """
            notify:
              recipients:
                - name: anna
                  ntfy: https://n.example:8080/t
                  token_file: notify-token
                  updates: true
                  stations: [roof]
                  here: [46.23, -7]
                  quiet: 22:00-07:05
                  hourly: 3
                  names: true
                  places: true
                  rules:
                    {intensity: 3, earthquake: true, alarm: false, magnitude: 4.5, distance_km: 200,
                     expected_intensity: 2, disputed: true, offline: true, alerts: warning, codes: [vibration_limit]}
                - {name: "network", apprise: /etc/apprise.yml}
                - {name: post, mail: me@example.org, rules: {}}
            """
        let all = try NotifySettings.load(file: Array(file.utf8), overrides: []).recipients
        var anna = Recipient()
        (anna.name, anna.ntfy, anna.tokenFile) = ("anna", NtfyTopic("https://n.example:8080/t"), "notify-token")
        (anna.updates, anna.stations, anna.here) = (true, ["roof"], .init(latitude: 46.23, longitude: -7))
        (anna.quiet, anna.hourly, anna.names, anna.places) = (DayTime("22:00-07:05"), 3, true, true)
        (anna.rules.intensity, anna.rules.earthquake, anna.rules.alarm) = (3, true, false)
        (anna.rules.magnitude, anna.rules.distance, anna.rules.expected) = (4.5, 200, 2)
        (anna.rules.disputed, anna.rules.offline, anna.rules.alerts) = (true, true, .warning)
        anna.rules.codes = ["vibration_limit"]
        #expect(all[0] == anna && anna.quiet?.description == "22:00-07:05")
        #expect(anna.service == .ntfy(base: "https://n.example:8080", topic: "t", updates: true))
        #expect(all[1].service == .apprise(file: "/etc/apprise.yml") && all[1].rules == Recipient.Rules())
        #expect(all[2].service == .mail(address: "me@example.org") && all[2].rules.alarm)
    }

    @Test func eachRowIsRefused() {
        let one: [String: Value] = ["/notify/recipients/0": ["name": "a", "mail": "a@b"]]
        let (count, sentences) = WrongSettings.misread(by: NotifySettings.self, elements: one)
        #expect(count > 80 && sentences == [], "\(count)")
    }

    @Test(arguments: [
        (
            "{name: a, mail: a@b, houry: 3, rules: {magnitud: 3, intensity: 13}}",
            [
                "notify.yaml:1:44: /notify/recipients/0/houry: There is no key `houry` here. [unknown_key; allowed: "
                    + "name, ntfy, apprise, mail, token_file, updates, stations, here, quiet, hourly, names, places, "
                    + "rules; did you mean `hourly`?]",
                "notify.yaml:1:62: /notify/recipients/0/rules/magnitud: There is no key `magnitud` here. [unknown_key; "
                    + "allowed: intensity, earthquake, alarm, magnitude, distance_km, expected_intensity, disputed, "
                    + "offline, alerts, codes; did you mean `magnitude`?]",
                "notify.yaml:1:75: /notify/recipients/0/rules/intensity: This value is out of range. "
                    + "[range; got 13; allowed: 1…12]",
            ]
        ),
        ("{mail: a@b}", ["notify.yaml:1:23: /notify/recipients/0: The key `name` is missing. [type]"]),
        (
            "{name: a}",
            [
                "notify.yaml:1:23: /notify/recipients/0: Exactly one of ntfy, apprise and mail is needed, not 0. "
                    + "[cross_field]"
            ]
        ),
        (
            "{name: a, mail: a@b, token_file: t, rules: {distance_km: 9, expected_intensity: 2}}",
            [
                "notify.yaml:1:67: /notify/recipients/0/rules/distance_km: This needs here: [latitude, longitude]. "
                    + "[cross_field]",
                "notify.yaml:1:83: /notify/recipients/0/rules/expected_intensity: This needs here: "
                    + "[latitude, longitude]. [cross_field]",
                "notify.yaml:1:44: /notify/recipients/0/token_file: This is for ntfy; Apprise has its secrets in its "
                    + "own file. [cross_field]",
            ]
        ),
        (
            "{name: a, mail: a@b, here: [1, 2, 3]}",
            [
                "notify.yaml:1:44: /notify/recipients/0/here: This must be a list of 2 numbers, not a list. "
                    + "[type; got [1,2,3]; allowed: [latitude, longitude] in degrees, such as [46.23, 7.36]]"
            ]
        ),
        (
            "{name: a, mail: a@b, hourly: 1, hourly: 2}",
            ["notify.yaml:1:55: /notify/recipients/0/hourly: The key hourly occurs twice. [syntax]"]
        ),
        (
            "{name: a, mail: a@b}, {name: a, mail: c@d}",
            ["notify.yaml:1:45: /notify/recipients/1: The name `a` is there twice. [range]"]
        ),
    ])
    func whatIsWrongIsNamed(recipient: String, words: [String]) { #expect(Self.refusals(recipient) == words) }

    @Test(arguments: [
        ("ntfy", "ntfy.sh/t"), ("ntfy", "https://ntfy.sh"), ("ntfy", "https://ntfy.sh/"), ("ntfy", "ftp://n.example/t"),
        ("ntfy", "https://n.example/a b"), ("mail", "me"), ("mail", "@b"), ("mail", "a@"), ("mail", "a@b@c"),
        ("mail", "-oQ@b"), ("mail", "a@b\\nBcc: x"), ("mail", "a,b@c"), ("token_file", "../x"), ("apprise", "./x"),
        ("apprise", "a/b"), ("quiet", "22-7"), ("quiet", "22:00-22:00"), ("stations", "network"),
    ])
    func texts(key: String, text: String) {
        let value = key == "stations" ? "[\"\(text)\"]" : "\"\(text)\""
        let said = Self.refusals("{name: a, \(key): \(value)}")
        #expect(said.count == 1 && said[0].contains(": /notify/recipients/0/\(key)"))
        #expect(said[0].contains("[range; got ") && said[0].contains("; allowed: "))
    }
}

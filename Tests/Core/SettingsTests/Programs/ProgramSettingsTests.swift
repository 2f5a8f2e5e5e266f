import Messages
import TestSupport
import Testing
import Values

@testable import Settings

struct ProgramSettingsTests {
    private struct Kiosk: ProgramSettings, Equatable {
        static let (chapter, program, example) = ("kiosk", "a kiosk", "kiosk.port=8080")

        var seconds = 4.5
        var port = 80
        var isOpen = false
        var name = ""
        var colours: [String] = []
        var places: [String: String] = [:]
        var guests: [Guest] = []
        var mqtt = MQTTConfiguration()

        static let table: [Setting<Kiosk>] = [
            Setting("kiosk.wait_s", \.seconds, .duration(0...60), "How long it waits."),
            Setting("kiosk.port", \.port, .integer(0...65535), "Where it listens."),
            Setting("kiosk.open", \.isOpen, .bool, "Whether it is open."),
            Setting(
                "kiosk.name", \.name, .text("up to 5 characters") { $0.isMade(0...5) { $0.isVisible } }, "Its name."),
            Setting("kiosk.colours", \.colours, .many(.word(["red", "blue"]), atMost: 3), "Its colours."),
            Setting(
                "kiosk.places", \.places, .byStation(.text("a letter") { $0.isMade(1...1) { $0.isSmallLetter } }),
                "Where stations are."),
            Setting(
                "kiosk.guests", \.guests, .objects("objects with name", atMost: 2, name: \.name), "Who comes."),
        ]

        static var manualOfElements: String { Guest.manualRows(at: "kiosk.guests[].") }

        static func == (one: Kiosk, other: Kiosk) -> Bool {
            (one.seconds, one.port, one.isOpen, one.name) == (other.seconds, other.port, other.isOpen, other.name)
                && one.colours == other.colours && one.places == other.places && one.guests == other.guests
                && one.mqtt.uris == other.mqtt.uris
        }
    }

    private struct Guest: TableSettings, Equatable {
        var name = ""
        var from: Double?
        var until: Double?

        static let table: [Setting<Guest>] = [
            Setting("name", \.name, .id, "Who it is."),
            Setting("stay.from", \.from, .ifGiven(.number(0...24, unit: "h")), "When the guest comes."),
            Setting("stay.until", \.until, .ifGiven(.number(0...24, unit: "h")), "When the guest goes."),
        ]

        var problems: [CodedError] {
            guard let until, until <= from ?? 0 else { return [] }
            return [CodedError("/stay/until", .crossField, "This is before the guest comes.")]
        }
    }

    private func problems(_ file: String, _ overrides: [String] = []) -> [String] {
        do throws(CodedErrors) {
            _ = try Kiosk.load(file: Array(file.utf8), overrides: overrides)
            return []
        } catch {
            return error.errors.map { $0.text(fileName: "kiosk.yaml") }
        }
    }

    @Test func theDefaultFileIsTheDefaults() throws {
        #expect(try Kiosk.load(file: Array(Kiosk.defaultFile.utf8), overrides: []) == Kiosk())
        #expect(try Kiosk.load(file: nil, overrides: []) == Kiosk())
        #expect(Kiosk.defaultFile.contains("\nkiosk:\n  # How long it waits. [0…60 s]\n  wait_s: 4.5\n"))
    }

    @Test func theCommandLineStandsAboveTheFile() throws {
        let file =
            "mqtt: {uri: ['mqtt://one']}\nkiosk: {wait_s: 3, port: 1, open: true, colours: [red], places: {roof: a}}"
        let settings = try Kiosk.load(
            file: Array(file.utf8),
            overrides: ["kiosk.port=2", "kiosk.name=a=b", "kiosk.places={base: b}", "mqtt.uri=['mqtt://two']"])
        #expect((settings.seconds, settings.port, settings.isOpen, settings.name) == (3, 2, true, "a=b"))
        #expect(settings.colours == ["red"] && settings.places == ["base": "b"])
        #expect(settings.mqtt.uris == ["mqtt://two"])
        #expect(try Kiosk.load(file: Array("kiosk: {port: 1}".utf8), overrides: ["kiosk.port="]).port == 80)
        #expect(try Kiosk.load(file: nil, overrides: ["kiosk.wait_s=0.5 min"]).seconds == 30)
    }

    @Test func saysAllThatIsWrongAndWhere() {
        let file = """
            kiosk:
              wait_s: 61
              port: 1.5
              colours: [green, red]
              places: {'a b': c, roof: cd}
              guests: [{name: Ann, stay: {form: 3, until: 25}}, {nam: Bob}]
              prot: 80
            nonsense: 1
            port: 3
            mqtt:
              keepalive_s: -1
            """
        let found = problems(file, ["port=3", "kiosk.nam=x", "kiosk.guests=[{name: Ann}, {name: Ann}]", "x"])
        #expect(
            found == [
                "kiosk.yaml:2:3: /kiosk/wait_s: This value is out of range. [range; got 61; allowed: 0…60 s]",
                "kiosk.yaml:3:3: /kiosk/port: This must be a whole number. [type; got 1.5; allowed: 0…65535]",
                "kiosk.yaml:4:13: /kiosk/colours/0: This is not one of the allowed words. "
                    + "[range; got \"green\"; allowed: red, blue]",
                "kiosk.yaml:5:12: /kiosk/places/a b: This is not the id of a station. "
                    + "[range; allowed: 1 to 64 of letters A-Z a-z, digits, _ and -]",
                "kiosk.yaml:5:22: /kiosk/places/roof: This text is not allowed here. "
                    + "[range; got \"cd\"; allowed: a letter]",
                "kiosk.yaml:6:31: /kiosk/guests/0/stay/form: There is no key `form` here. "
                    + "[unknown_key; allowed: from, until; did you mean `from`?]",
                "kiosk.yaml:6:40: /kiosk/guests/0/stay/until: This value is out of range. "
                    + "[range; got 25; allowed: 0…24 h]",
                "kiosk.yaml:6:54: /kiosk/guests/1/nam: There is no key `nam` here. "
                    + "[unknown_key; allowed: name, stay; did you mean `name`?]",
                "kiosk.yaml:7:3: /kiosk/prot: There is no key `prot` here. [unknown_key; allowed: wait_s, port, open, "
                    + "name, colours, places, guests; did you mean `port`?]",
                "kiosk.yaml:8:1: /nonsense: There is no key `nonsense` here. [unknown_key; allowed: mqtt, kiosk]",
                "kiosk.yaml:9:1: /port: There is no key `port` here. "
                    + "[unknown_key; allowed: mqtt, kiosk; did you mean `kiosk.port`?]",
                "kiosk.yaml:11:3: /mqtt/keepalive_s: This value is out of range. "
                    + "[range; got -1; allowed: 5…65535 s]",
                "command line: /port: There is no key `port` here. "
                    + "[unknown_key; allowed: mqtt, kiosk; did you mean `kiosk.port`?]",
                "command line: /kiosk/nam: There is no key `nam` here. [unknown_key; allowed: wait_s, port, open, "
                    + "name, colours, places, guests; did you mean `name`?]",
                "command line: /kiosk/guests/1: The name `Ann` is there twice. [range]",
                "command line: Not a setting: `x`. [syntax; allowed: key=value, such as kiosk.port=8080]",
            ])
        #expect(problems("kiosk: {}", ["mqtt.keepalive_s=-1"]).first?.contains("/mqtt/keepalive_s: ") == true)
        #expect(problems("kiosk:\n  port: [").first?.hasPrefix("kiosk.yaml:") == true)
        #expect(
            problems("[1]") == [
                "kiosk.yaml:1:1: This must be an object, not a list. [type; got [1]; "
                    + "allowed: an object with mqtt, kiosk]"
            ])
        #expect(problems("kiosk: 3").first?.hasPrefix("kiosk.yaml:1:1: /kiosk: This must be an object") == true)
        #expect(problems("kiosk: {").first?.hasPrefix("kiosk.yaml:") == true)
        #expect(problems("kiosk: {colours: [red, red, blue, blue]}").first?.contains("at most 3 elements") == true)
        for number in ["9e99", ".nan", "true", "'3'", "null"] {
            #expect(problems("kiosk: {wait_s: \(number)}").count == 1, "\(number)")
        }
    }

    @Test func elementsHaveATable() throws {
        let guest = "{name: Ann, stay: {from: 9}}"
        #expect(try Kiosk.load(file: Array("kiosk: {guests: [\(guest)]}".utf8), overrides: []).guests[0].from == 9)
        let wrong = [
            ("{stay: {}}", "kiosk.yaml:1:18: /kiosk/guests/0: The key `name` is missing. [type]"),
            (
                "{name: Ann, stay: {from: 9, until: 8}}",
                "kiosk.yaml:1:46: /kiosk/guests/0/stay/until: This is before the guest comes. [cross_field]"
            ),
            (
                "{name: Ann, stay: {from: null}}",
                "kiosk.yaml:1:37: /kiosk/guests/0/stay/from: This must be a number, not nothing. "
                    + "[type; got null; allowed: 0…24 h]"
            ),
            (
                "{name: Ann, stay: 9}",
                "kiosk.yaml:1:30: /kiosk/guests/0/stay: This must be an object, not a number. "
                    + "[type; got 9; allowed: an object with from, until]"
            ),
        ]
        for (guest, words) in wrong { #expect(problems("kiosk: {guests: [\(guest)]}") == [words]) }
        let schema = Kiosk.schema["properties"]?["kiosk"]?["properties"]?["guests"]?["items"]
        #expect(schema?["required"] == ["name"] && schema?["additionalProperties"] == .bool(false))
        let from = schema?["properties"]?["stay"]?["properties"]?["from"]
        #expect(from?["maximum"] == 24 && from?["default"] == nil)
        #expect(Kiosk.manual.contains("\n| `kiosk.guests[].stay.from` | none | 0…24 h | When the guest comes. |\n"))
    }

    @Test func eachRowIsRefused() {
        let (count, sentences) = WrongSettings.misread(by: Kiosk.self, elements: ["/kiosk/guests/0": ["name": "a"]])
        #expect(count == 40 && sentences == [])
    }

    @Test func theSchemaHasEveryRow() {
        let properties = Kiosk.schema["properties"]?["kiosk"]?["properties"]
        for row in Kiosk.table {
            let own = properties?[String(row.key.dropFirst(6))]
            #expect(own?["description"] == .string(row.help) && own?["default"] == row.standard, "\(row.key)")
        }
        #expect(properties?["wait_s"]?["x-unit"] == "s")
        #expect(properties?["places"]?["additionalProperties"] == ["type": "string"])
        #expect(Kiosk.schema["properties"]?["mqtt"]?["properties"]?["uri"] != nil)
        #expect(Kiosk.schema["additionalProperties"] == .bool(false))
    }

    @Test func theReferenceHasEveryRow() {
        for row in Kiosk.table { #expect(Kiosk.manual.contains("\n| `\(row.key)` | `\(row.defaultText)` | ")) }
    }
}

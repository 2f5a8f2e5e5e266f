import Messages
import Settings
import Testing
import Values

struct ProgramSettingsTests {
    private struct Kiosk: ProgramSettings, Equatable {
        static let (chapter, program, example) = ("kiosk", "a kiosk", "kiosk.port=8080")

        var seconds = 4.5
        var port = 80
        var isOpen = false
        var name = ""
        var colours: [String] = []
        var places: [String: String] = [:]
        var guests: [String] = []
        var mqtt = MQTTConfiguration()

        static let table: [Setting<Kiosk>] = [
            Setting("kiosk.wait_s", \.seconds, .duration(0...60), "How long it waits."),
            Setting("kiosk.port", \.port, .integer(0...65535), "Where it listens."),
            Setting("kiosk.open", \.isOpen, .bool, "Whether it is open."),
            Setting("kiosk.name", \.name, .text("up to 5 characters") { $0.utf8.count <= 5 }, "Its name."),
            Setting("kiosk.colours", \.colours, .many(.word(["red", "blue"]), atMost: 3), "Its colours."),
            Setting(
                "kiosk.places", \.places, .byStation("id: a letter", { $0.utf8.count == 1 ? $0 : nil }, { $0 }),
                "Where stations are."),
            Setting(
                "kiosk.guests", \.guests,
                .objects("objects with name", atMost: 2, schema: ["type": "object"], name: { $0 }, read: Kiosk.guest),
                "Who comes."),
        ]

        private static func guest(_ value: Value) throws(CodedError) -> String {
            guard let name = value["name"]?.rawText else {
                throw CodedError("/name", .type, "A guest has a name.", allowed: "{name: text}")
            }
            return name
        }

        static func == (one: Kiosk, other: Kiosk) -> Bool {
            (one.seconds, one.port, one.isOpen, one.name) == (other.seconds, other.port, other.isOpen, other.name)
                && one.colours == other.colours && one.places == other.places && one.guests == other.guests
                && one.mqtt.uris == other.mqtt.uris
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
              guests: [{name: Ann}, {nam: Bob}]
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
                    + "[range; got \"cd\"; allowed: id: a letter]",
                "kiosk.yaml:6:25: /kiosk/guests/1/name: A guest has a name. [type; allowed: {name: text}]",
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
                "command line: Not a setting: `x`. [syntax; allowed: key=value, such as trace.rate_hz=10]",
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

import Messages
import Servers
import Settings
import Testing

struct ProgramSettingsTests {
    private struct Kiosk: ProgramSettings, Equatable {
        static let (chapter, program, example) = ("kiosk", "a kiosk", "kiosk.port=8080")

        var seconds = 4.5
        var port = 80
        var isOpen = false
        var name = ""
        var colours: [String] = []
        var places: [String: String] = [:]
        var mqtt = MQTTConfiguration()

        static let table: [ProgramSetting<Kiosk>] = [
            .number("wait_s", \.seconds, 0...60, "s", "How long it waits."),
            .whole("port", \.port, 0...65535, "", "Where it listens."),
            .flag("open", \.isOpen, "Whether it is open."),
            .text("name", \.name, "up to 5 characters", "Its name.") { $0.utf8.count <= 5 },
            .list("colours", \.colours, "red, blue", "Its colours.") { ["red", "blue"].contains($0) },
            .byStation("places", \.places, "id: a letter", "Where stations are.") { $0.utf8.count == 1 ? $0 : nil },
        ]

        static func == (one: Kiosk, other: Kiosk) -> Bool {
            (one.seconds, one.port, one.isOpen, one.name) == (other.seconds, other.port, other.isOpen, other.name)
                && one.colours == other.colours && one.places == other.places
                && one.mqtt.uris == other.mqtt.uris
        }
    }

    private func problems(_ file: String, _ overrides: [String] = []) -> [String] {
        do throws(ProgramSettingsError) {
            _ = try Kiosk.load(file: Array(file.utf8), overrides: overrides)
            return []
        } catch {
            return error.problems
        }
    }

    @Test func theDefaultFileIsTheDefaults() throws {
        #expect(try Kiosk.load(file: Array(Kiosk.defaultFile.utf8), overrides: []) == Kiosk())
        #expect(try Kiosk.load(file: nil, overrides: []) == Kiosk())
        #expect(Kiosk.defaultFile.contains("  # How long it waits. [0…60 s]\n  wait_s: 4.5\n"))
    }

    @Test func theCommandLineStandsAboveTheFile() throws {
        let file =
            "mqtt: {uri: ['mqtt://one']}\nkiosk: {wait_s: 3, port: 1, open: true, colours: [red], places: {roof: a}}"
        let settings = try Kiosk.load(
            file: Array(file.utf8),
            overrides: ["kiosk.port=2", "kiosk.name=a=b", "kiosk.places={base: b}", "mqtt.uri=['mqtt://two']"])
        #expect((settings.seconds, settings.port, settings.isOpen, settings.name) == (3, 2, true, "a=b"))
        #expect(settings.colours == ["red"] && settings.places == ["roof": "a", "base": "b"])
        #expect(settings.mqtt.uris == ["mqtt://two"])
        #expect(try Kiosk.load(file: nil, overrides: ["kiosk.name="]).name == "")
    }

    @Test func saysAllThatIsWrongAndWhere() {
        let file = """
            kiosk:
              wait_s: 61
              port: 1.5
              colours: [green]
              places: {'a b': c}
              prot: 80
            nonsense: 1
            mqtt:
              keepalive_s: -1
            """
        let found = problems(file, ["port=3", "kiosk.nam=x", "x"])
        #expect(
            Array(found.prefix(9)) == [
                "settings file, line 2, column 3: kiosk.wait_s is 61; allowed: 0…60 s",
                "settings file, line 3, column 3: kiosk.port is 1.5; allowed: 0…65535",
                "settings file, line 4, column 3: kiosk.colours is [\"green\"]; allowed: a list of red, blue",
                "settings file, line 5, column 3: kiosk.places is {\"a b\":\"c\"}; allowed: id: a letter",
                "settings file, line 6, column 3: there is no setting kiosk.prot; did you mean kiosk.port?",
                "settings file, line 7, column 1: there is no setting nonsense",
                "--set: there is no setting port; did you mean kiosk.port?",
                "--set: there is no setting kiosk.nam; did you mean kiosk.name?",
                "--set x: KEY=VALUE is needed",
            ])
        #expect(found.last?.hasPrefix("settings file, line 9, column 3: mqtt.keepalive_s: ") == true)
        #expect(problems("kiosk: {}", ["mqtt.keepalive_s=-1"]).first?.hasPrefix("mqtt.keepalive_s: ") == true)
        #expect(problems("kiosk:\n  port: [").first?.hasPrefix("settings file, line ") == true)
        #expect(problems("[1]") == ["settings file: an object with the chapters mqtt and kiosk is needed"])
        #expect(problems("kiosk: {").first?.hasPrefix("settings file, line ") == true)
        for number in ["9e99", ".nan", "true", "'3'", "null"] {
            #expect(problems("kiosk: {wait_s: \(number)}").count == 1, "\(number)")
        }
    }
}

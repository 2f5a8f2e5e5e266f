import Foundation
import Seismology
import Settings
import Testing

@testable import Messages

/// What Home Assistant is told, byte by byte, and what holds for all of it.
@Suite struct HomeAssistantGoldenTests {
    static let station: HomeAssistantStation = {
        var station = HomeAssistantStation(
            name: "Basement, \"north\" wall", model: "ADXL355", version: "0.1.0",
            page: "http://page/#/station/basement-north",
            relations: [.worden12, .jma],
            locked: ["axes.y.detection.threshold"])
        station.hasVibration = true
        station.hasWarning = true
        return station
    }()

    static func place(_ form: HomeAssistantPlace.Form) -> HomeAssistantPlace {
        HomeAssistantPlace(prefix: "homeassistant", id: "basement-north", form: form)
    }

    static func announced(_ form: HomeAssistantPlace.Form, _ station: HomeAssistantStation = station) throws
        -> [Collector.Sent]
    {
        let collector = Collector()
        var messenger = try Samples.messenger()
        messenger.announce(station, settings: SettingsTable.homeAssistant, at: place(form), to: collector.sink)
        return collector.sent
    }

    @Test func theMessageOfTheDeviceIsAsStored() throws {
        let sent = try Self.announced(.device)
        #expect(sent.map(\.header.topic) == ["homeassistant/device/seismote-basement-north/config"])
        try GoldenTests.compare(try #require(sent.first).bytes, with: "home-assistant-device.json")
    }

    @Test func theMessageOfOneEntityIsAsStored() throws {
        let topic = "homeassistant/number/seismote-basement-north/threshold_x/config"
        let sent = try #require(Self.announced(.components).first { $0.header.topic == topic })
        try GoldenTests.compare(sent.bytes, with: "home-assistant-number.json")
    }

    /// Both forms say the same of each entity.
    @Test func theFormsAgree() throws {
        let device = try #require(Self.announced(.device).first).object()
        let entities = try #require(device["components"] as? [String: [String: Any]])
        let single = try Self.announced(.components)
        #expect(single.count == entities.count)
        for sent in single {
            let parts = sent.header.topic.split(separator: "/").map(String.init)
            #expect(parts.count == 5 && parts[0] == "homeassistant" && parts[4] == "config", "\(sent.header.topic)")
            var entity = try #require(entities[parts[3]], "\(parts[3])")
            #expect(entity.removeValue(forKey: "platform") as? String == parts[1])
            guard !sent.bytes.isEmpty else {
                #expect(entity.isEmpty, "\(parts[3])")
                continue
            }
            for (key, value) in device where key != "components" { entity[key] = value }
            #expect(NSDictionary(dictionary: entity) == NSDictionary(dictionary: try sent.object()), "\(parts[3])")
        }
    }

    @Test func everyEntityIsWhole() throws {
        let device = try #require(Self.announced(.device).first).object()
        let entities = try #require(device["components"] as? [String: [String: Any]])
        var names: Set<String> = []
        for (key, entity) in entities where entity.count > 1 {
            let unique = try #require(entity["unique_id"] as? String)
            #expect(unique == "seismote-basement-north-\(key)")
            #expect(names.insert(try #require(entity["name"] as? String)).inserted, "\(key)")
            let kind = try #require(entity["platform"] as? String)
            #expect(entity["default_entity_id"] as? String == "\(kind).seismote_basement_north_\(key)")
            #expect(entity["object_id"] == nil)
            let topics = entity.filter { $0.key.hasSuffix("topic") }
            #expect(!topics.isEmpty, "\(key)")
            for (name, topic) in topics {
                let isOfAll = name == "latest_version_topic" && "\(topic)" == "seismote/release"
                #expect(isOfAll || "\(topic)".hasPrefix("seismote/basement-north/"), "\(key)")
            }
            #expect(entity["state_topic"] as? String != "seismote/basement-north/data/trace")
            for text in entity.values.compactMap({ $0 as? String }) {
                #expect(
                    !text.contains("$") && !text.contains("^") && !text.contains("~") && !text.contains("@"), "\(text)")
                #expect(text.filter { $0 == "{" }.count == text.filter { $0 == "}" }.count, "\(text)")
            }
        }
        #expect(names.count > 30)
    }

    /// Diagnostics of an agent that hangs stayed as they were.
    @Test(arguments: [(60.0, 150), (1, 60), (3600, 9000)])
    func whatIsNotSaidAgainExpires(interval: Double, after: Int) throws {
        var station = Self.station
        station.healthInterval = interval
        let device = try #require(Self.announced(.device, station).first).object()
        let entities = try #require(device["components"] as? [String: [String: Any]])
        func lifetime(_ key: String) -> Int? { entities[key]?["expire_after"] as? Int }
        #expect(lifetime("uptime") == after && lifetime("clock_problem") == after && lifetime("pga") == 60)
        // They have no expiry in Home Assistant, or are said once.
        #expect(lifetime("event") == nil && lifetime("version") == nil && lifetime("revision") == nil)
        #expect(entities["uptime"]?["device_class"] as? String == "timestamp")
    }

    @Test func filtersAreCalledAsAPersonWould() throws {
        let device = try #require(Self.announced(.device).first).object()
        let entities = try #require(device["components"] as? [String: [String: Any]])
        let options = try #require(entities["filter"]?["options"] as? [String])
        #expect(options.count == 13 && options.allSatisfy { !$0.contains(":") })
        #expect(options.contains("Shake low-pass 5 Hz"))
    }

    /// It would be there, but could not be changed.
    @Test func whatIsLockedIsNotOffered() throws {
        let device = try #require(Self.announced(.device).first).object()
        let entities = try #require(device["components"] as? [String: [String: Any]])
        #expect(entities["threshold_x"]?.count ?? 0 > 5)
        #expect(entities["threshold_y"]?.keys.sorted() == ["platform"])
        let keys = Messenger.keys(of: SettingsTable.homeAssistant)
        #expect(keys.contains("axes.y.detection.threshold") && keys.contains("trace.rate_hz"))
    }

    @Test func onlyTheRelationsThatAreComputedAreShown() throws {
        let device = try #require(Self.announced(.device).first).object()
        let entities = try #require(device["components"] as? [String: [String: Any]])
        let shown = entities.filter { $0.key.hasPrefix("intensity_") && $0.value.count > 1 }.keys.sorted()
        #expect(shown == ["intensity_jma", "intensity_worden12"])
        #expect(entities["intensity_jma"]?["name"] as? String == "Intensity JMA (jma)")
    }

    @Test func vibrationIsShownWhereItIsMeasured() throws {
        func keys(_ station: HomeAssistantStation) throws -> Set<String> {
            let device = try #require(Self.announced(.device, station).first).object()
            let entities = try #require(device["components"] as? [String: [String: Any]])
            return Set(entities.filter { $0.value.count > 1 }.keys)
        }
        var without = Self.station
        without.hasVibration = false
        let more = try keys(Self.station).subtracting(keys(without))
        #expect(more == ["ppv", "kb_fmax", "vibration_dose", "vibration_share", "vibration_limit"])
    }

    @Test func warningsAreShownWhereTheStationWarns() throws {
        func keys(_ station: HomeAssistantStation) throws -> Set<String> {
            let device = try #require(Self.announced(.device, station).first).object()
            let entities = try #require(device["components"] as? [String: [String: Any]])
            return Set(entities.filter { $0.value.count > 1 }.keys)
        }
        var without = Self.station
        without.hasWarning = false
        let more = try keys(Self.station).subtracting(keys(without))
        #expect(more == ["warning", "warning_seconds", "warning_intensity"])
    }

    @Test func namesOfEntitiesAreWhatHomeAssistantTakes() {
        #expect(HomeAssistantPlace(prefix: "p", id: "Cellar-2_a", form: .device).entity == "seismote_cellar_2_a")
    }

    /// Home Assistant takes no smaller step.
    @Test func stepsAreNotTooSmall() throws {
        let device = try #require(Self.announced(.device).first).object()
        let entities = try #require(device["components"] as? [String: [String: Any]])
        let steps = entities.values.compactMap { $0["step"] as? Double }
        #expect(steps.count >= 5 && steps.allSatisfy { $0 >= 0.001 })
    }

    @Test func withoutADescriptionTheIdIsTheName() throws {
        var station = Self.station
        (station.name, station.model) = ("", "")
        let told = try #require(Self.announced(.device, station).first).object()
        let device = try #require(told["device"] as? [String: Any])
        #expect(device["name"] as? String == "basement-north")
        #expect(device["model"] as? String == "Seismic station")
    }

    @Test(arguments: HomeAssistantPlace.Form.allCases)
    func whatIsAnnouncedCanBeTakenAway(_ form: HomeAssistantPlace.Form) throws {
        let collector = Collector()
        Messenger.retract(Self.place(form), settings: SettingsTable.homeAssistant, to: collector.sink)
        #expect(Set(collector.sent.map(\.header.topic)) == Set(try Self.announced(form).map(\.header.topic)))
        for sent in collector.sent { #expect(sent.bytes.isEmpty && sent.header.retain && sent.header.qos == 1) }
    }
}

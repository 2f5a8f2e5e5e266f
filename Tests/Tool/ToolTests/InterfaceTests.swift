import Foundation
import Messages
import Propagation
import TestSupport
import Testing

@testable import seismote

/// `seismote interface`: what the declarations of the fields say of the messages, held against the messages themselves.
@Suite struct InterfaceTests {
    typealias Object = [String: Any]

    nonisolated(unsafe) private static let schemas: Object = {
        let bundle = try? Tool("interface", "schema").object()
        return bundle?["$defs"] as? Object ?? [:]
    }()

    /// The stored messages, byte by byte those of the agent (`GoldenTests`), with the name of what they are.
    private static let stored = [
        ("info.json", "info"), ("config.json", "config"), ("summary.json", "summary"),
        ("summary-settling.json", "summary"), ("health.json", "health"), ("alert.json", "alert"),
        ("event-onset.json", "event"), ("event-update.json", "event"), ("event-end.json", "event"),
        ("trace.json", "trace"), ("trace-raw.json", "trace"), ("reply.json", "reply"), ("reply-failed.json", "reply"),
        ("log.json", "log"), ("vibration.json", "vibration"), ("warning.json", "warning"),
    ]

    @Test func theDocumentationIsTheStoredFile() throws {
        let file = Vectors.folder.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("deploy/docs/reference/message-fields.md")
        let made = try Tool("interface", "manual").output
        #expect(
            try String(contentsOf: file, encoding: .utf8) == made,
            "make it again: seismote interface manual > deploy/docs/reference/message-fields.md")
    }

    @Test func theDocumentationOfTheAlertsIsTheStoredFile() throws {
        let file = Vectors.folder.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("deploy/docs/operate/alerts.md")
        let made = try Tool("interface", "alerts").output
        #expect(
            try String(contentsOf: file, encoding: .utf8) == made,
            "make it again: seismote interface alerts > deploy/docs/operate/alerts.md")
    }

    /// The text of OpenEEW holds an object, which is described as the agent writes it.
    @Test func theTextForOpenEEWHoldsWhatItsSchemaSays() throws {
        let schema = try #require(Self.schemas["openeew"] as? Object)
        #expect(schema["type"] as? String == "string" && schema["contentMediaType"] as? String == "application/json")
        let inner = try #require(schema["contentSchema"] as? Object)
        var message = OpenEEWMessage(topic: "/traces", country: "mx", device: "a")
        var texts: [[UInt8]] = []
        message.send([Float](repeating: 0.5, count: 3 * OpenEEWMessage.count), time: 0) { texts.append(Array($1)) }
        let text = try #require(
            try JSONSerialization.jsonObject(with: Data(texts[0]), options: .fragmentsAllowed) as? String)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? Object)
        #expect(Self.problems(object, inner, at: "openeew") == [])
        #expect(Set(object.keys) == Set(inner["required"] as? [String] ?? []))
        #expect(inner["additionalProperties"] as? Bool == false)
        for key in object.keys {
            var other = object
            other[key] = nil
            #expect(Self.problems(other, inner, at: "openeew") != [], "without \(key)")
        }
    }

    @Test(arguments: stored)
    func aMessageHasWhatItsDeclarationSaysAndNothingElse(_ file: String, _ name: String) throws {
        let schema = try #require(Self.schemas[name] as? Object)
        let message = try #require(try Vectors.json("messages/\(file)") as? Object)
        #expect(Self.problems(message, schema, at: name) == [])
        // And what is different from it is noticed.
        for key in schema["required"] as? [String] ?? [] {
            var other = message
            other[key] = nil
            #expect(Self.problems(other, schema, at: name) == ["\(name).\(key) is missing"])
            other[key] = NSNull()
            #expect(Self.problems(other, schema, at: name).isEmpty == (["pending", "onsite"].contains(key)))
        }
        var more = message
        more["surprise"] = 1
        #expect(Self.problems(more, schema, at: name) == ["\(name).surprise is not declared"])
    }

    /// What is wrong with a value; also what is not described, which a reader would have to ignore.
    private static func problems(_ value: Any, _ schema: Object, at path: String) -> [String] {
        if let choices = schema["anyOf"] as? [Object] {
            let found = choices.map { problems(value, $0, at: path) }
            return found.contains([]) ? [] : found[0]
        }
        let wrong = ["\(path) is no \(schema["type"] ?? "?")"]
        let number = (value as? NSNumber).flatMap { isBoolean($0) ? nil : $0 }
        if let constant = schema["const"] as? Int, number?.intValue != constant { return wrong }
        if let form = schema["pattern"] as? String, let text = value as? String,
            text.range(of: form, options: .regularExpression) == nil
        {
            return wrong
        }
        switch schema["type"] as? String {
        case nil: return []
        case "null": return value is NSNull ? [] : wrong
        case "number": return number == nil ? wrong : []
        case "integer": return number.map { $0.doubleValue == $0.doubleValue.rounded() } == true ? [] : wrong
        case "boolean": return (value as? NSNumber).map(isBoolean) == true ? [] : wrong
        case "string":
            guard let text = value as? String else { return wrong }
            return (schema["enum"] as? [String])?.contains(text) == false ? ["\(path) is \(text)"] : []
        case "array":
            guard let list = value as? [Any], let items = schema["items"] as? Object else { return wrong }
            return list.flatMap { problems($0, items, at: "\(path)[]") }
        case "object":
            guard let object = value as? Object else { return wrong }
            if let others = schema["additionalProperties"] as? Object {
                return object.flatMap { problems($1, others, at: "\(path).\($0)") }
            }
            guard let properties = schema["properties"] as? [String: Object] else { return [] }
            let missing = (schema["required"] as? [String] ?? []).filter { object[$0] == nil }
            return missing.map { "\(path).\($0) is missing" }
                + object.flatMap { key, value in
                    properties[key].map { problems(value, $0, at: "\(path).\(key)") }
                        ?? ["\(path).\(key) is not declared"]
                }
        default: return wrong
        }
    }

    private static func isBoolean(_ number: NSNumber) -> Bool { String(cString: number.objCType) == "c" }

    /// Templates of Home Assistant name fields as text: each is one that a declaration has.
    @Test func homeAssistantReadsOnlyFieldsThatThereAre() throws {
        let device = try #require(try Vectors.json("messages/home-assistant-device.json") as? Object)
        let components = try #require(device["components"] as? [String: Object])
        var read: Set<String> = []
        for (name, component) in components {
            guard let topic = component["state_topic"] as? String,
                var template = component["value_template"] as? String,
                let schema = Self.schema(ofTopic: topic)
            else { continue }
            for pattern in ["\\.get\\('(\\w+)',\\{\\}\\)", "\\.get\\('(\\w+)'\\)"] {
                template = template.replacingOccurrences(of: pattern, with: ".$1", options: .regularExpression)
            }
            for match in template.matches(of: /value_json((?:\.\w+(?![\w(]))+)/) {
                let path = match.output.1.split(separator: ".").map(String.init)
                read.insert(path.joined(separator: "."))
                #expect(Self.has(schema, path), "\(name): \(path.joined(separator: "."))")
            }
        }
        #expect(
            read.isSuperset(of: ["pga", "v3.rms", "spectrum.dominant_hz", "time.error_ms", "outbox.dropped", "rev"]))
        let health = try #require(Self.schemas["health"] as? Object)
        #expect(!Self.has(health, ["time", "error"]) && !Self.has(health, ["pga"]))
    }

    private static func schema(ofTopic topic: String) -> Object? {
        let names = ["trigger": "event", "digest": "summary"]
        let name = topic.split(separator: "/").last.map { names[String($0)] ?? String($0) }
        return name.flatMap { schemas[$0] as? Object }
    }

    private static func has(_ schema: Object, _ path: [String]) -> Bool {
        var schema = schema
        for key in path {
            guard let properties = schema["properties"] as? [String: Object] else {
                return schema["type"] as? String == "object"
            }
            guard let next = properties[key] else { return false }
            schema = next
        }
        return true
    }

    /// What the tool enters for a station is as the interface declares it, and has no envelope.
    @Test func aPlaceThatIsEnteredIsAsDeclared() throws {
        let schema = try #require(Self.schemas["network-place"] as? Object)
        let payload = NetworkPlaces.payload(Place(latitude: 46.9, longitude: 7.45, elevation: 0.5))
        let message = try #require(try JSONSerialization.jsonObject(with: Data(payload)) as? Object)
        #expect(Self.problems(message, schema, at: "place") == [])
        #expect(Set(schema["required"] as? [String] ?? []) == ["latitude", "longitude"])
        let document = try Tool("interface", "asyncapi").object()
        let channel = (document["channels"] as? [String: Object])?["networkPlace"]
        #expect(channel?["address"] as? String == Topics.place(of: "{id}", root: "{root}"))
        let operation = (document["operations"] as? [String: Object])?["receiveNetworkPlace"]
        let delivery = (operation?["bindings"] as? Object)?["mqtt"] as? Object
        #expect(delivery?["retain"] as? Bool == true && delivery?["qos"] as? Int == 1)
    }

    @Test func oneSchemaAndAnUnknownName() throws {
        let one = try Tool("interface", "schema", "health").object()
        #expect(one["title"] as? String == "Seismote message: health")
        let rate = try #require((one["properties"] as? [String: Object])?["rate_hz"])
        #expect(rate["x-unit"] as? String == "Hz" && rate["description"] as? String == "Measured samples per second.")
        #expect((one["required"] as? [String])?.contains("rate_hz") == false)
        let unknown = try Tool("interface", "schema", "healht")
        #expect(unknown.status == 64 && unknown.errors.contains("There is no schema `healht`"))
    }

    /// Names and topics are there once; every operation has its channel, every message its schema.
    @Test func theDocumentHasEverythingOnce() throws {
        let document = try Tool("interface", "asyncapi").object()
        let channels = try #require(document["channels"] as? [String: Object])
        let operations = try #require(document["operations"] as? [String: Object])
        let lines = try Tool("interface", "list").output.split(separator: "\n").dropFirst()
        let names = lines.compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(Set(names).count == names.count && Set(names) == Set(channels.keys))
        let addresses = channels.values.compactMap { $0["address"] as? String }
        #expect(Set(addresses).count == addresses.count && addresses.contains("{root}/{id}/data/history/event/trigger"))
        let used = operations.values.compactMap { ($0["channel"] as? Object)?["$ref"] as? String }
        #expect(Set(used) == Set(channels.keys.map { "#/channels/\($0)" }) && used.count == channels.count)
        let summary = (operations["sendSummary"]?["bindings"] as? Object)?["mqtt"] as? Object
        #expect(summary?["qos"] as? Int == 0 && summary?["retain"] as? Bool == true)
        #expect(operations["receiveCommandPing"]?["reply"] != nil)
    }

    @Test func aCommandHasItsMembersWithTheirRanges() throws {
        let schema = try Tool("interface", "schema", "command-snapshot").object()
        let properties = try #require(schema["properties"] as? [String: Object])
        #expect(Set(properties.keys) == ["id", "expires", "source", "last_s", "from", "to"])
        #expect(properties["last_s"]?["maximum"] as? Int == 604_800 && schema["required"] as? [String] == ["id"])
        #expect(schema["additionalProperties"] as? Bool == false)
    }
}

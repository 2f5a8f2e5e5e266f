import Testing
import Values

@testable import Messages

@Suite struct CBORTraceTests {
    /// The trace as CBOR is the object that it is as JSON.
    @Test func aTraceIsTheSameObject() throws {
        var trace = Samples.trace()
        trace.append([.raw, .rms], [.nan, 1, 9.80665, 0.5, 0.25, -1.25e-7], triggered: 0)
        let collector = Collector()
        var binary = try Samples.messenger(traces: .cbor)
        binary.send(trace, time: 5, quality: TimeQuality(synced: true, source: .ntp, errorMs: 2.1), to: collector.sink)
        var text = try Samples.messenger()
        text.send(trace, time: 5, quality: TimeQuality(synced: true, source: .ntp, errorMs: 2.1), to: collector.sink)
        #expect(collector.sent[0].header.contentType == .cbor && collector.sent[1].header.contentType == .json)
        let value = try #require(CBORReader.read(collector.sent[0].bytes))
        // As JSON again, floats as floats: letter for letter what the other one sent.
        #expect(Self.json(value) == String(decoding: collector.sent[1].bytes, as: UTF8.self))
        #expect(collector.sent[0].bytes.count < collector.sent[1].bytes.count)
    }

    /// What the page's tests read (deploy/dashboard/tests/fleet.js).
    @Test func equalsTheStoredFile() throws {
        var messenger = try Samples.messenger(traces: .cbor)
        let collector = Collector()
        messenger.send(Samples.trace(), time: Samples.onset, quality: .replay, to: collector.sink)
        try GoldenTests.compare(try #require(collector.sent.first).bytes, with: "trace.cbor")
    }

    private static func json(_ value: Value) -> String {
        var json = JSONWriter()
        write(value, to: &json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static func write(_ value: Value, to json: inout JSONWriter) {
        switch value {
        case .null: json.null()
        case .bool(let value): json.bool(value)
        case .int(let value): json.int(value)
        case .double(let value):
            if Double(Float(value)) == value { json.float(Float(value)) } else { json.double(value) }
        case .string(let text): json.string(text)
        case .array(let values):
            json.beginArray()
            for value in values { write(value, to: &json) }
            json.endArray()
        case .object(let members):
            json.beginObject()
            for member in members {
                json.key(text: member.key)
                write(member.value, to: &json)
            }
            json.endObject()
        }
    }
}

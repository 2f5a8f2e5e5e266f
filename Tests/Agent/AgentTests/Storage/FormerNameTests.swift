import Messages
import Settings
import TestSupport
import Testing

@testable import Agent
@testable import Spool

/// What was stored before the station had its name.
@Suite struct FormerNameTests {
    private static let stamp = "20260105T102030120Z"

    private static func message(
        _ topic: String, _ payload: String, content: ContentType = .json, event: EventMark? = nil
    ) throws -> StoredMessage {
        let folder = try TemporaryFolder(isQuick: true)
        var spool = try Spool.open(SpoolOptions(directory: folder.url.path, budgetBytes: 64_000_000), now: 1)
        var header = PublicationHeader(topic: topic, qos: 1, retain: false, contentType: content, priority: .essential)
        header.event = event
        _ = try Array(payload.utf8).withBytes { bytes throws(SpoolError) in try spool.put(header, bytes, made: 1) }
        try spool.commit()
        let message = try #require(try spool.next(.essential, after: 0, messages: 1, bytes: 100_000).first)
        try spool.close()
        return message
    }

    private static func name(_ host: String = "raspberrypi", id: String = "cellar") throws -> FormerName? {
        FormerName(host: host, topics: try Topics(root: "seismote", id: id))
    }

    private static func renamed(_ message: StoredMessage) throws -> (topic: String, event: String?, payload: String)? {
        guard case .changed(let present)? = try name()?.rename(message) else { return nil }
        return (present.header.topic, present.header.event?.id, String(decoding: present.payload, as: UTF8.self))
    }

    @Test func anEventGetsTheNameEverywhere() throws {
        let mark = EventMark(id: "raspberrypi-\(Self.stamp)", part: .end)
        let end = try Self.message(
            "seismote/raspberrypi/event/trigger",
            #"{"v":1,"station":"raspberrypi","boot":"b","seq":3,"event_id":"raspberrypi-\#(Self.stamp)","pga":0.25,"waveform":{"topic":"seismote/raspberrypi/data/waveform/raspberrypi-\#(Self.stamp)","bytes":512}}"#,
            event: mark)
        let present = try #require(try Self.renamed(end))
        #expect(present.topic == "seismote/cellar/event/trigger" && present.event == "cellar-\(Self.stamp)")
        #expect(
            present.payload
                == #"{"v":1,"station":"cellar","boot":"b","seq":3,"event_id":"cellar-\#(Self.stamp)","pga":0.25,"waveform":{"topic":"seismote/cellar/data/waveform/cellar-\#(Self.stamp)","bytes":512}}"#
        )
        let waveform = try Self.message(
            "seismote/raspberrypi/data/waveform/raspberrypi-\(Self.stamp)", "MS", content: .mseed, event: mark)
        let records = try #require(try Self.renamed(waveform))
        #expect(records.topic == "seismote/cellar/data/waveform/cellar-\(Self.stamp)" && records.payload == "MS")
    }

    /// Topics of others, of another root, and of a station whose name begins or ends so.
    @Test func onlyTheFormerNameIsChanged() throws {
        let other = try Self.message("school/seismote/raspberrypi/data/trace", #"{"station":"raspberrypi"}"#)
        #expect(try Self.renamed(other)?.topic == "seismote/cellar/data/trace")
        for topic in [
            "seismote/cellar/event/trigger", "seismote/raspberrypi2/event/trigger", "answers/raspberrypi/me",
            "raspberrypi/event", "seismote/raspberrypi/cmd/x",
        ] {
            let message = try Self.message(topic, #"{"station":"raspberrypi"}"#)
            guard case .unchanged? = try Self.name()?.rename(message) else {
                Issue.record("\(topic) is changed")
                continue
            }
        }
        let words = try Self.message(
            "seismote/raspberrypi/res/1",
            #"{"station":"raspberrypi","result":{"station":"raspberrypi"},"event_id":"raspberrypi-x"}"#)
        #expect(
            try Self.renamed(words)?.payload
                == #"{"station":"cellar","result":{"station":"raspberrypi"},"event_id":"raspberrypi-x"}"#)
        #expect(try Self.name("cellar") == nil)
    }

    @Test func whatCannotBeWrittenAnewIsGivenUp() throws {
        for (payload, content) in [("not JSON", ContentType.json), ("[]", .json), ("x", .cbor)] {
            let message = try Self.message("seismote/raspberrypi/data/trace", payload, content: content)
            guard case .impossible? = try Self.name()?.rename(message) else {
                Issue.record("\(payload)")
                continue
            }
        }
    }
}

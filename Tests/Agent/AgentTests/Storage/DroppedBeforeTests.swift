import MQTT
import Messages
import Settings
import TestSupport
import Testing

@testable import Agent
@testable import Alerts
@testable import Spool

/// What an earlier run dropped.
@Suite struct DroppedBeforeTests {
    private static func fault(_ spool: inout Spool, _ alert: inout QueueDropping, now: Int64) -> AlertFault? {
        var words = StorageStatus.Words()
        words.statistics = spool.statistics
        var facts = AlertFacts(now: now, mqtt: Configuration().mqtt, link: LinkStatistics())
        facts.storage = AlertFacts.Storage(words)
        return alert.look(facts)
    }

    /// A defect: after each restart `queue_dropping` was raised for a minute, for what the file remembers.
    @Test func isNoAlertOfThisRun() throws {
        let folder = try TemporaryFolder(isQuick: true)
        let options = SpoolOptions(directory: folder.url.path, budgetBytes: 64_000_000)
        let header = PublicationHeader(topic: "t", qos: 1, retain: false, contentType: .text, priority: .essential)
        func drop(_ spool: inout Spool) throws {
            let key = try [1].withBytes { bytes throws(SpoolError) in try spool.put(header, bytes, made: 1) }
            try spool.giveUp(key)
        }
        var first = try Spool.open(options, now: 1)
        try drop(&first)
        var alert = QueueDropping()
        #expect(Self.fault(&first, &alert, now: 0) != nil)
        try first.close()
        var second = try Spool.open(options, now: 2)
        #expect(second.statistics.dropped.essential == 1)
        var fresh = QueueDropping()
        #expect(Self.fault(&second, &fresh, now: 0) == nil)
        try drop(&second)
        let fault = Self.fault(&second, &fresh, now: 1)
        #expect(fault?.details["essential"] == 1)
        try second.close()
    }
}

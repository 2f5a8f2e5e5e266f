import Instruments
import MQTT
import Messages
import Settings
import Testing

@testable import Alerts

@Suite struct ClockAlertsTests {
    private static let minute: Int64 = 60_000_000_000

    private static func facts(minute: Int64, _ clock: TimeQuality?, recording: Bool = false) -> AlertFacts {
        var facts = AlertFacts(now: minute * Self.minute, mqtt: Configuration().mqtt, link: LinkStatistics())
        facts.clock = clock
        facts.sensor.description = SensorDescription(
            driver: "x", chip: "y", rate: 100, clock: recording ? .recording : .host)
        return facts
    }

    @Test func aClockThatNobodyKnowsIsAnAlertAtOnce() {
        let alert = ClockUnknown()
        #expect(alert.look(Self.facts(minute: 0, nil))?.message.contains("seismote-clock.service") == true)
        #expect(alert.look(Self.facts(minute: 0, TimeQuality(synced: false, source: .free))) == nil)
    }

    @Test func aClockWithoutASourceIsAnAlertAfterTenMinutes() {
        let (free, good) = (TimeQuality(synced: false, source: .free), TimeQuality(synced: true, source: .ntp))
        var alert = ClockUnsynchronised()
        func isRaised(_ minute: Int64, _ clock: TimeQuality?, recording: Bool = false) -> Bool {
            alert.look(Self.facts(minute: minute, clock, recording: recording)) != nil
        }
        #expect(!isRaised(5, free) && !isRaised(14, free) && isRaised(15, free) && isRaised(90, free))
        #expect(!isRaised(91, good) && !isRaised(92, free) && !isRaised(101, free) && isRaised(102, free))
        // What is not known is not this, and a recording needs no clock.
        #expect(!isRaised(103, nil) && !isRaised(104, free))
        #expect(!isRaised(200, free, recording: true) && !isRaised(201, free))
    }
}

import Instruments
import MQTT
import Messages
import Settings
import Testing

@testable import Alerts

@Suite struct VibrationAlertsTests {
    private static func standing(
        _ state: VibrationMessage.State, _ value: Double, minute: Int64 = 0,
        name: String = "din4150-3:dwellings:foundation"
    ) -> VibrationMessage.Standing {
        .init(
            state: state, limit: .init(name: name, share: .init(value: value, limit: 5, axis: 0)), unit: "mm/s",
            start: 1_767_608_400_000_000_000 + minute * 60_000_000_000)
    }

    private static func facts(_ vibration: VibrationMessage.Standing?, sensor: Bool = true) -> AlertFacts {
        var facts = AlertFacts(now: 0, mqtt: Configuration().mqtt, link: LinkStatistics())
        facts.vibration = vibration
        if sensor { facts.sensor.description = SensorDescription(driver: "x", chip: "y", rate: 100, clock: .host) }
        return facts
    }

    @Test func aLimitThatIsReachedIsAnAlertWithItsNumbers() {
        var alert = VibrationLimitReached()
        #expect(alert.look(Self.facts(nil)) == nil)
        #expect(alert.look(Self.facts(Self.standing(.ok, 3.4))) == nil)
        let warning = alert.look(Self.facts(Self.standing(.warning, 3.5)))
        #expect(warning?.severity == .warning)
        let fault = alert.look(Self.facts(Self.standing(.exceeded, 20.126)))
        #expect(fault?.severity == .error)
        #expect(
            fault?.message == "x reached 20.13 mm/s, 403 % of the limit 5.0 mm/s of din4150-3:dwellings:foundation, "
                + "in the interval from 2026-01-05T10:20:00.000000000Z")
        #expect(fault?.details["share"]?.number == 20.126 / 5 && fault?.details["axis"] == "x")
        #expect(alert.look(Self.facts(Self.standing(.ok, 1))) == nil)
    }

    /// An alert names the frequency and the time of its half cycle.
    @Test func aHalfCycleIsToldWithItsFrequency() {
        var alert = VibrationLimitReached()
        var standing = Self.standing(.exceeded, 6)
        standing.limit.share.frequency = 8.04
        standing.limit.share.time = standing.start + 12_000_000_000
        let fault = alert.look(Self.facts(standing))
        #expect(fault?.message.hasPrefix("x reached 6.0 mm/s at 8.0 Hz, 120 % of the limit") == true)
        #expect(fault?.details["frequency_hz"]?.number == 8.04)
        #expect(fault?.details["t"] == "2026-01-05T10:20:12.000000000Z")
    }

    /// The words have the largest interval, so that not each of a long shaking is news; the details have the last.
    @Test func onlyALargerOneIsNews() throws {
        var board = AlertBoard([VibrationLimitReached.self])
        func look(_ vibration: VibrationMessage.Standing?, sensor: Bool = true) -> AlertBoard.Change? {
            board.look(Self.facts(vibration, sensor: sensor), wall: 7).first
        }
        guard case .raise? = look(Self.standing(.exceeded, 6)) else {
            Issue.record("not raised")
            return
        }
        #expect(look(Self.standing(.exceeded, 5.5, minute: 1)) == nil)
        #expect(board.active.first?.details["value"]?.number == 5.5)
        guard case .raise(let larger)? = look(Self.standing(.exceeded, 7, minute: 2)) else {
            Issue.record("a larger one is no news")
            return
        }
        #expect(larger.message.contains("7.0 mm/s") && larger.since == 7)
        // Less, but another severity; and the same with another limit.
        guard case .raise(let less)? = look(Self.standing(.warning, 4, minute: 3)),
            case .raise? = look(Self.standing(.warning, 3.6, minute: 4, name: "bs7385-2:dwellings:base"))
        else {
            Issue.record("no news")
            return
        }
        #expect(less.severity == .warning && less.message.contains("4.0 mm/s"))
        #expect(look(Self.standing(.ok, 1, minute: 5)) == .clear("vibration_limit"))
        // What was before is forgotten.
        guard case .raise(let again)? = look(Self.standing(.exceeded, 5.1, minute: 6)) else {
            Issue.record("not raised again")
            return
        }
        #expect(again.message.contains("5.1 mm/s"))
    }

    /// Of a sensor that is lost nothing is known, and without a limit there is nothing to reach.
    @Test func whatIsNotKnownIsNoAlert() {
        var alert = VibrationLimitReached()
        let exceeded = Self.standing(.exceeded, 9)
        #expect(alert.look(Self.facts(exceeded)) != nil)
        #expect(alert.look(Self.facts(exceeded, sensor: false)) == nil)
        #expect(alert.look(Self.facts(exceeded)) != nil)
        #expect(alert.look(Self.facts(nil)) == nil)
    }
}

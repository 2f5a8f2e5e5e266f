import TestSupport
import Testing

@testable import MQTT

/// Brokers that are played: what the link ends up with, and how soon.
@Suite struct ProtocolChoiceTests {
    private static let hour = ProtocolChoice.memory
    private static let five = ConnectForm(version: .v5)
    private static let old = ConnectForm(version: .v311)

    /// The value in a box, for expectations that change it, with the form of the attempt under way.
    private final class Chosen {
        private var value: ProtocolChoice
        private(set) var form = ConnectForm(version: .v5)
        var now: UInt64 = 0

        init(_ preferred: MQTTVersion, brokers: Int = 1) {
            value = ProtocolChoice(preferred: preferred, brokers: brokers)
        }
        @discardableResult func begin(_ broker: Int = 0) -> ConnectForm {
            form = value.form(for: broker, now: now)
            return form
        }
        func refused(_ code: Int, _ broker: Int = 0) -> Bool { value.refused(broker, form, code: code, now: now) }
        func hungUp(_ broker: Int = 0) -> ProtocolChoice.Step { value.hungUp(broker, form, now: now) }
        func silent() -> ProtocolChoice.Step { value.silent(0, form, now: now) }
        func failed() { value.failed(0) }
        func accepted(_ broker: Int = 0) -> Bool { value.accepted(broker, form, BrokerLimits(), now: now) }
        func ended() { value.ended(0, form.version, now: now) }
        func malformed(_ broker: Int = 0) -> Bool { value.malformed(broker, form.version, now: now) }

        /// Attempts until a connection stays, with a broker that answers an attempt by its form; nil: none does.
        func connect(atMost limit: Int = 40, _ answer: (ConnectForm) -> Bool) -> (form: ConnectForm, attempts: Int)? {
            for attempt in 1...limit {
                now += 1
                if answer(begin()) {
                    if accepted() { return (form, attempt) }
                } else {
                    _ = hungUp()
                }
            }
            return nil
        }
    }

    /// amqtt takes a CONNECT of 5 for a longer one of 3.1.1 and waits for the rest: the station was never online.
    @Test func aBrokerThatIsSilentAbout5IsSpokenToIn311() {
        let choice = Chosen(.v5)
        for expected in [ProtocolChoice.Step.wait, .lesser] {
            #expect(choice.begin() == Self.five)
            #expect(choice.silent() == expected)
        }
        #expect(choice.begin() == Self.old)
        // It is there: once more with 5, at once, and then for an hour without.
        #expect(!choice.accepted())
        #expect(choice.begin() == Self.five)
        #expect(choice.silent() == .onward)
        #expect(choice.begin() == Self.old)
        #expect(choice.accepted())
        choice.now = Self.hour - 1
        #expect(choice.begin() == Self.old)
    }

    /// A broker that hangs, or packets that are dropped, make nobody speak 3.1.1 for good.
    @Test func silenceOfEverybodyProvesNothing() {
        let choice = Chosen(.v5)
        for _ in 0..<3 {
            for form in [Self.five, Self.five, Self.old] {
                #expect(choice.begin() == form)
                #expect(choice.silent() != .onward)
            }
        }
        #expect(choice.begin() == Self.five)
        #expect(choice.accepted())
        choice.ended()
        // What has spoken 5 an hour ago or less is waited for.
        for _ in 0..<5 {
            #expect(choice.begin() == Self.five)
            #expect(choice.silent() == .wait)
        }
    }

    @Test(arguments: [1, 132]) func aRefusalOfTheVersionLeadsTo311AtOnceAndForAnHour(code: Int) {
        let choice = Chosen(.v5, brokers: 2)
        #expect(choice.begin() == Self.five)
        #expect(choice.refused(code))
        #expect(choice.begin() == Self.old)
        #expect(choice.begin(1) == Self.five)
        choice.now = 10
        choice.begin()
        #expect(choice.accepted())
        choice.now = Self.hour
        #expect(choice.begin() == Self.old)
        choice.now += 10
        #expect(choice.begin() == Self.five)
    }

    /// Whatever a broker hangs up on: the best form that it takes is found, and stays for an hour.
    @Test(arguments: [MQTTVersion.v5, .v311]) func aBrokerThatHangsUpIsSpokenToInTheBestFormThatItTakes(
        first: MQTTVersion
    ) {
        for (has5, retains, quality) in [
            (true, true, 1), (false, true, 1), (false, false, 1), (false, true, 0), (false, false, 0),
        ] {
            if has5, first == .v311 { continue }
            let choice = Chosen(first)
            func takes(_ form: ConnectForm) -> Bool {
                (has5 || form.version == .v311) && (retains || !form.willIsRetained) && form.willQoS <= quality
            }
            let found = choice.connect(takes)
            let best = ConnectForm(version: has5 ? .v5 : .v311, willQoS: quality, willIsRetained: retains)
            #expect(found?.form == best)
            #expect(found?.attempts ?? 99 <= 14, "\(best): \(found?.attempts ?? 0)")
            // The next connection needs one attempt; one after an hour two at most.
            #expect(choice.connect(takes).map { $0.form == best && $0.attempts == 1 } == true)
            choice.now += 2 * Self.hour
            #expect(choice.connect(takes).map { $0.form == best && $0.attempts <= 2 } == true)
        }
    }

    /// A defect: a forwarder with nobody behind it, or a broker that starts, made 3.1.1 of a broker with 5, for an hour.
    @Test func aBrokerWith5ThatIsAwayComesBackWith5HoweverLong() {
        for closings in 0..<40 {
            let choice = Chosen(.v5)
            for spoken in [false, true] {
                var left = closings
                let found = choice.connect(atMost: 60) { _ in
                    left -= 1
                    return left < 0
                }
                #expect(found?.form == Self.five, "after \(closings) closings, spoken: \(spoken)")
                // Not a single attempt with less, for a broker that is known to have 5.
                if spoken { #expect(found?.attempts == closings + 1) }
                choice.ended()
            }
        }
    }

    /// Only its own words make an old broker of one that has spoken 5, and not for longer than one connection.
    @Test func whatHasSpoken5IsAskedAgainInTheNextConnection() {
        let choice = Chosen(.v5)
        choice.begin()
        #expect(choice.accepted())
        choice.ended()
        choice.begin()
        #expect(choice.refused(1))
        #expect(choice.begin() == Self.old)
        #expect(choice.accepted())
        choice.ended()
        #expect(choice.begin() == Self.five)
        // One that was replaced by an old one without words is found after an hour.
        choice.now += Self.hour
        #expect(choice.connect { $0.version == .v311 }?.form == Self.old)
    }

    @Test func aProofThatCannotBeMadeIsMadeAnotherTime() {
        let choice = Chosen(.v5)
        for _ in 0..<2 {
            choice.begin()
            _ = choice.hungUp()
        }
        #expect(choice.begin() == Self.old)
        #expect(!choice.accepted())
        #expect(choice.begin() == Self.five)
        // Nobody listens.
        choice.failed()
        #expect(choice.begin() == Self.five)
        #expect(choice.accepted())
    }

    @Test func aProofTakesPlaceAtOnceAndEnds() {
        let choice = Chosen(.v5)
        for step in [ProtocolChoice.Step.wait, .lesser, .wait, .lesser] {
            choice.begin()
            #expect(choice.hungUp() == step)
        }
        #expect(choice.begin() == ConnectForm(version: .v311, willIsRetained: false))
        #expect(!choice.accepted())
        for step in [ProtocolChoice.Step.onward, .onward, .onward, .onward, .wait] {
            choice.begin()
            #expect(choice.hungUp() == step)
        }
        #expect(choice.begin() == Self.five)
    }

    @Test func aBrokerOf5SaysWhatItDoesNotTakeOfAWill() {
        let choice = Chosen(.v5)
        choice.begin()
        #expect(!choice.refused(BrokerLimits.retainNotSupported))
        #expect(choice.begin() == ConnectForm(version: .v5, willIsRetained: false))
        #expect(!choice.refused(BrokerLimits.qosNotSupported))
        #expect(choice.begin() == ConnectForm(version: .v5, willQoS: 0, willIsRetained: false))
    }

    /// It cannot talk us into 5 again.
    @Test func aBrokerWithMalformedPacketsIsSpokenToIn311ForAnHour() {
        let choice = Chosen(.v5, brokers: 2)
        choice.now = 5
        choice.begin(1)
        #expect(choice.malformed(1))
        #expect(choice.begin(0) == Self.five)
        for _ in 0..<3 {
            #expect(choice.begin(1).version == .v311)
            _ = choice.hungUp(1)
        }
        while true {
            #expect(choice.begin(1).version == .v311)
            if choice.accepted(1) { break }
        }
        choice.now = Self.hour + 4
        #expect(choice.begin(1).version == .v311)
        choice.now += 1
        #expect(choice.begin(1) == Self.five)
        // One that has no 3.1.1 is not left alone for an hour.
        #expect(choice.malformed(1))
        choice.begin(1)
        #expect(!choice.refused(1, 1))
        #expect(choice.begin(1) == Self.five)
    }

    @Test func otherRefusalsChangeNothing() {
        let choice = Chosen(.v5)
        choice.begin()
        #expect(!choice.refused(134))
        #expect(choice.begin() == Self.five)
        let old = Chosen(.v311)
        #expect(old.begin() == Self.old)
        #expect(!old.refused(1))
        #expect(old.begin() == Self.old)
    }
}

import Testing

@testable import MQTT

/// Which forms a client tries with a broker, one after the other.
@Suite struct ClientFormsTests {
    /// Outcome of an attempt: accepted, or what its end says.
    enum Outcome { case accepted, ended(ClientError.Sign?) }

    /// Attempts until one stays or none is left.
    private static func attempts(
        _ forms: ClientForms, _ broker: (ConnectForm, Int) -> Outcome
    ) -> (tried: [String], isIn: Bool) {
        var forms = forms
        var tried: [String] = []
        while tried.count < 20 {
            let form = forms.current
            let will = "\(form.willQoS)\(form.willIsRetained ? "r" : "")"
            tried.append("\(form.version == .v5 ? "5" : "3") \(will)")
            switch broker(form, tried.count) {
            case .accepted: if forms.isFinal() { return (tried, true) }
            case .ended(let sign): if !forms.failed(sign) { return (tried, false) }
            }
        }
        return (tried, false)
    }

    private static func first(_ version: MQTTVersion = .v5, known: Bool = false, will: Bool = true) -> ClientForms {
        ClientForms(version, isKnown: known, hasWill: will)
    }

    @Test func aBrokerThatTakesEverythingIsAskedOnce() {
        #expect(Self.attempts(Self.first()) { _, _ in .accepted } == (["5 1r"], true))
    }

    @Test func whatABrokerSaysCounts() {
        let old = Self.attempts(Self.first()) { form, _ in form.version == .v5 ? .ended(.isOld) : .accepted }
        #expect(old == (["5 1r", "3 1r"], true))
        let bare = Self.attempts(Self.first()) { form, _ in
            form.willIsRetained ? .ended(.takesNoRetained) : form.willQoS > 0 ? .ended(.takesNoQoS1) : .accepted
        }
        #expect(bare == (["5 1r", "5 1", "5 0"], true))
        #expect(Self.attempts(Self.first()) { _, _ in .ended(nil) } == (["5 1r"], false))
        // One that says the same for ever.
        #expect(Self.attempts(Self.first()) { _, _ in .ended(.takesNoRetained) } == (["5 1r", "5 1"], false))
    }

    /// A broker of 3.1.1 without retained messages, without QoS 1, and without both, that can only hang up.
    @Test func closedConnectionsLeadToALesserWillAndTheBetterFormsAreTriedOnceMore() {
        func takes(_ form: ConnectForm, _ qos: Int, _ retained: Bool) -> Outcome {
            form.version == .v311 && form.willQoS <= qos && (retained || !form.willIsRetained)
                ? .accepted : .ended(.hungUp)
        }
        let noRetain = Self.attempts(Self.first()) { form, _ in takes(form, 1, false) }
        #expect(noRetain == (["5 1r", "3 1r", "3 1", "5 1r", "3 1r", "3 1"], true))
        let none = Self.attempts(Self.first(.v311)) { form, _ in takes(form, 0, false) }
        #expect(none == (["3 1r", "3 1", "3 0r", "3 0", "3 1r", "3 1", "3 0r", "3 0"], true))
        // Without a will there is nothing to leave out.
        let mute = Self.attempts(Self.first(will: false)) { form, _ in .ended(.hungUp) }
        #expect(mute == (["5 1r", "3 1r"], false))
    }

    /// A broker that starts behind a forwarder: it ends with the best form, or with the limits that it names.
    @Test func aBrokerThatStartsIsSpokenToInTheBestForm() {
        for start in 1...4 {
            let late = Self.attempts(Self.first()) { _, count in count > start ? .accepted : .ended(.hungUp) }
            #expect(late.isIn && late.tried.last == "5 1r", "\(late.tried)")
        }
        let limited = Self.attempts(Self.first()) { form, count in
            count < 3
                ? .ended(.hungUp) : form.version == .v5 && form.willIsRetained ? .ended(.takesNoRetained) : .accepted
        }
        #expect(limited == (["5 1r", "3 1r", "3 1", "5 1r", "5 1"], true))
        // What has spoken 5 is not asked for less, and one that goes again is given up.
        #expect(Self.attempts(Self.first(known: true)) { _, _ in .ended(.hungUp) } == (["5 1r"], false))
        let gone = Self.attempts(Self.first()) { _, count in count == 2 ? .accepted : .ended(.hungUp) }
        #expect(gone == (["5 1r", "3 1r", "5 1r", "3 1r"], false))
    }

    @Test func silenceIsOfAnOldBrokerOnly() {
        let silent = Self.attempts(Self.first()) { form, _ in form.version == .v5 ? .ended(.silent) : .accepted }
        #expect(silent == (["5 1r", "3 1r", "5 1r", "3 1r"], true))
        #expect(Self.attempts(Self.first()) { _, _ in .ended(.silent) } == (["5 1r", "3 1r"], false))
    }
}

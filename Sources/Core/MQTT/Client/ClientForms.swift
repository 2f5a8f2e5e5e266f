/// Forms that are tried with one broker, one attempt after the other, until it accepts one. Pure.
///
/// The broker's words count. A closed connection and silence prove nothing: a broker that starts hangs up as well, and so
/// does a forwarder with nobody behind it. Forms that were passed over for these reasons are therefore tried once more when
/// the broker has accepted a lesser one.
struct ClientForms: Sendable {
    private var forms: [ConnectForm]
    /// Passed over without a word of the broker.
    private var passed: [ConnectForm] = []
    /// The form that was accepted, while those that were passed over are tried once more.
    private var accepted: ConnectForm?

    /// Form of the next attempt.
    private(set) var current: ConnectForm

    /// - Parameters:
    ///   - isKnown: the broker has spoken this version before.
    ///   - hasWill: there is a last will, which brokers without retained messages or QoS 1 refuse.
    init(_ version: MQTTVersion, isKnown: Bool, hasWill: Bool) {
        forms = version == .v5 ? [ConnectForm(version: .v5)] : []
        if !isKnown || version == .v311 { forms.append(ConnectForm(version: .v311)) }
        if hasWill, !isKnown || version == .v311 {
            for (qos, isRetained) in [(1, false), (0, true), (0, false)] {
                forms.append(ConnectForm(version: .v311, willQoS: qos, willIsRetained: isRetained))
            }
        }
        current = forms[0]
    }

    /// Takes what a failed attempt said.
    /// - Returns: whether there is another one.
    mutating func failed(_ sign: ClientError.Sign?) -> Bool {
        switch sign {
        case .takesNoRetained where current.willIsRetained:
            current.willIsRetained = false
            return true
        case .takesNoQoS1 where current.willQoS > 0:
            current.willQoS = 0
            return true
        default: break
        }
        if let accepted {
            // A better form has failed again; or the broker has gone meanwhile.
            guard current != accepted else { return false }
            current = passed.isEmpty ? accepted : passed.removeFirst()
            return true
        }
        switch sign {
        case nil, .takesNoRetained, .takesNoQoS1: return false
        case .isOld:
            guard current.version == .v5 else { return false }
            forms.removeAll { $0.version == .v5 }
            passed = []
        case .silent:
            // (Of 3.1.1 no form is known that a broker would be silent about.)
            guard current.version == .v5 else { return false }
            passed.append(current)
            forms.removeAll { $0.version == .v5 }
        case .hungUp:
            passed.append(current)
            forms.removeFirst()
        }
        guard let next = forms.first else { return false }
        current = next
        return true
    }

    /// The broker has accepted the form.
    /// - Returns: whether the connection stays; false: a better form is tried once more.
    mutating func isFinal() -> Bool {
        guard accepted == nil, !passed.isEmpty else { return true }
        accepted = current
        current = passed.removeFirst()
        return false
    }
}

/// A broker that cannot be reached or used; a sentence that names it.
package struct ClientError: Error, CustomStringConvertible {
    /// Conclusion from the end of an attempt for the next one.
    package enum Sign: Equatable, Sendable {
        /// The broker closed the connection without a word.
        case hungUp
        /// It said nothing until the deadline.
        case silent
        /// It has said that it has no MQTT 5.
        case isOld
        /// It has said that it takes no retained last will, or none of QoS 1.
        case takesNoRetained, takesNoQoS1
    }

    package var description: String
    /// Nil: nothing follows.
    package var sign: Sign?
    /// A message is larger than the broker takes.
    package var isTooLarge = false

    package init(_ description: String, sign: Sign? = nil, isTooLarge: Bool = false) {
        (self.description, self.sign, self.isTooLarge) = (description, sign, isTooLarge)
    }
}

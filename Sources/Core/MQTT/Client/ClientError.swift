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

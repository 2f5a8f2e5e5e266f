/// A broker that cannot be reached or used; a sentence that names it.
package struct ClientError: Error, CustomStringConvertible {
    package var description: String
    /// The answer of a broker that has no MQTT 5, or looks like it.
    package var isOldBroker = false

    package init(_ description: String, isOldBroker: Bool = false) {
        self.description = description
        self.isOldBroker = isOldBroker
    }
}

/// A broker that cannot be reached or used; a sentence that names it.
package struct ClientError: Error, CustomStringConvertible {
    package var description: String
    /// The answer of a broker that has no MQTT 5, or looks like it.
    package var isOldBroker = false
    /// It has said so, and not merely hung up.
    package var isSaid = false

    package init(_ description: String, isOldBroker: Bool = false, isSaid: Bool = false) {
        self.isSaid = isSaid
        self.description = description
        self.isOldBroker = isOldBroker
    }
}

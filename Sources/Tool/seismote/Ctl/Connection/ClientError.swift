/// A broker that cannot be reached or used; a sentence that names it.
struct ClientError: Error, CustomStringConvertible {
    var description: String
    /// The answer of a broker that has no MQTT 5, or looks like it.
    var isOldBroker = false

    init(_ description: String, isOldBroker: Bool = false) {
        self.description = description
        self.isOldBroker = isOldBroker
    }
}

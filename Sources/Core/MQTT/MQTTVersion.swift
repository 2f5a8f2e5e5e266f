/// A version of MQTT, as spoken with a broker.
public enum MQTTVersion: Sendable, Equatable {
    case v5, v311

    /// What is spoken when nobody asks for a version.
    public static var automatic: Self { ClientLibrary.diesOfProperties ? .v311 : .v5 }
}

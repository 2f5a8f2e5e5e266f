/// A version of MQTT, as spoken with a broker.
public enum MQTTVersion: Sendable, Equatable {
    case v5, v311

    /// Version that is spoken when nobody asks for one.
    public static var automatic: Self { ClientLibrary.diesOfProperties ? .v311 : .v5 }
}

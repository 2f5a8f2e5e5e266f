import CMosquitto

/// The libmosquitto that this process has loaded.
public enum ClientLibrary {
    /// Such as 2000011 for 2.0.11.
    static let number: Int = {
        var parts: (Int32, Int32, Int32) = (0, 0, 0)
        return Int(mosquitto_lib_version(&parts.0, &parts.1, &parts.2))
    }()

    /// Such as `2.0.11`.
    public static var version: String { "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)" }

    /// A packet of MQTT 5 with a property that does not exist ends the process: for what it has to say of it the library
    /// hands its own logger no handle, and that asserts one. Mended in 2.0.16.
    public static var diesOfProperties: Bool { diesOfProperties(number) }

    static func diesOfProperties(_ number: Int) -> Bool { number < 2_000_016 }
}

extension LinkOptions.ProtocolVersion {
    /// What is spoken when nobody asks for a version.
    public static var automatic: Self { ClientLibrary.diesOfProperties ? .v311 : .v5 }
}

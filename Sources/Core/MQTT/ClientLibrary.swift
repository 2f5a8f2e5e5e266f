import CLinux
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
    /// hands its own logger no handle, and that asserts one. Mended in 2.0.16, and caught by `read` where the program's own
    /// `__assert_fail` is the one that the library calls.
    public static let diesOfProperties = isDefective(number) && clinux_guards_assertions() == 0

    static func isDefective(_ number: Int) -> Bool { number < 2_000_016 }

    /// `mosquitto_loop_read`. A property that does not exist is a malformed packet in every version of the library.
    /// - Returns: what the library has returned, and whether the end of the process was prevented: then the library has
    ///   called nobody back, and the client must only be destroyed.
    static func read(_ client: OpaquePointer, packets: Int32) -> (code: Int32, isCaught: Bool) {
        guard isDefective(number) else { return (mosquitto_loop_read(client, packets), false) }
        let code = clinux_guarded_read(mosquitto_loop_read, client, packets)
        return code == CLINUX_ASSERTION ? (Int32(MOSQ_ERR_MALFORMED_PACKET.rawValue), true) : (code, false)
    }
}

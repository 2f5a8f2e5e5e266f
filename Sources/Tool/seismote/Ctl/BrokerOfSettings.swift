import MQTT
import ServerOptions

extension BrokerOptions {
    /// Access by all of these: options above the environment above a settings file.
    func access() throws -> ConnectionOptions {
        let path = settingsPath
        do {
            let configuration = try path.map { try LayerOptions.parse([]).load(path: $0).configuration }
            return try access(mqtt: configuration?.mqtt, station: configuration?.station.id ?? "")
        } catch let error as SecretError {
            throw CtlError(status: .files, error.message)
        }
    }
}

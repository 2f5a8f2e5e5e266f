import Client
import ServerOptions

extension BrokerOptions {
    /// Access by all of these: options above the environment above a settings file.
    func access() throws -> BrokerAccess {
        let path = settingsPath
        do {
            return try access(mqtt: path.map { try LayerOptions.parse([]).load(path: $0).configuration.mqtt })
        } catch let error as SecretError {
            throw CtlError(status: .files, error.message)
        }
    }
}

import Glibc
import Link
import Messages
import Settings

/// Other settings of the connection. The pipeline gets its topics with the rest of its settings, at the border of a block;
/// what it still publishes below an old root until then is no loss (see `Link.change`).
struct LinkChange {
    let topics: Topics
    let options: LinkOptions
    /// Number of the change whose brokers are on trial; 0: none is.
    let trial: Int
    /// Files that TLS reads for it.
    let files: [String]

    /// - Throws: `cross_field`, where no connection can be made with the ledger's settings.
    init(_ ledger: SettingsLedger) throws(CodedErrors) {
        let configuration = ledger.inForce(ledger.settings)
        trial = ledger.connectionTrial
        let tls = configuration.mqtt.tls
        let isEncrypted = configuration.mqtt.uris.contains { $0.hasPrefix("mqtts:") }
        files = isEncrypted ? [tls.caFile, tls.certFile, tls.keyFile, tls.pskFile].filter { $0.hasPrefix("/") } : []
        do throws(AgentError) {
            topics = try Topics(configuration)
            do throws(LinkError) { options = try LinkOptions(configuration, topics: topics, trial: trial) } catch {
                throw AgentError(error.message)
            }
        } catch {
            throw CodedErrors([CodedError("/mqtt", .crossField, error.message)])
        }
    }

    /// Why a file cannot be read; nil: all can. Asks the disk.
    static func problem(_ files: [String]) -> String? {
        for path in files where access(path, R_OK) != 0 { return "\(path): \(String(cString: strerror(errno)))" }
        return nil
    }
}

extension Topics {
    init(_ configuration: Configuration) throws(AgentError) {
        do throws(TopicError) {
            try self.init(root: configuration.mqtt.root, id: configuration.station.id)
        } catch { throw AgentError(error.description) }
    }
}

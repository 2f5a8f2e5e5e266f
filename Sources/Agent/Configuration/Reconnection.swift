import Link
import Messages
import Settings

/// Other settings of the connection while the agent runs: what they come to, and everything besides the pipeline that has
/// to know. The pipeline gets its topics with the rest of its settings, at the border of a block; what it still publishes
/// below an old root until then is no loss (see `Link.change`).
struct Reconnection {
    let topics: Topics
    private let options: LinkOptions

    /// - Parameters:
    ///   - configuration: with what goes to these brokers only (`SettingsLedger.guarded`).
    ///   - trial: number of the change whose brokers are on trial; 0: none is.
    /// - Throws: settings that no connection can be made with. Nothing has changed then.
    init(_ configuration: Configuration, trial: Int = 0) throws(AgentError) {
        topics = try Self.topics(of: configuration)
        do throws(LinkError) { options = try LinkOptions(configuration, topics: topics, trial: trial) } catch {
            throw AgentError(error.message)
        }
    }

    /// What `apply` will hand back, for the ledger, which writes a change down before it is made.
    func number(of link: Link) -> UInt64 { link.number(ofChangeTo: options) }

    /// Lets the link go on with them. What shall reach the old broker is to be published before, such as the reply to the
    /// command that asked for it.
    /// - Returns: every connection with these settings has a higher number (`LinkStatistics.connections`).
    @discardableResult
    func apply(to link: Link) throws(AgentError) -> UInt64 {
        do throws(LinkError) { return try link.change(to: options) } catch { throw AgentError(error.message) }
    }

    static func topics(of configuration: Configuration) throws(AgentError) -> Topics {
        do throws(TopicError) {
            return try Topics(root: configuration.mqtt.root, id: configuration.station.id)
        } catch { throw AgentError(error.description) }
    }
}

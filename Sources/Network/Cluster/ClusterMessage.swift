import Messages

/// A message out of the detector's queue.
package struct ClusterDelivery: Sendable {
    /// What the broker knows it by until it is acknowledged.
    package var tag: UInt64
    package var kind: ClusterKind
    /// Topic of a message that was published for all, with slashes; else what the detector has named it.
    package var name: String
    package var payload: [UInt8]
    /// When the broker had it, nanoseconds of UTC.
    package var arrival: Int64
    /// Whether it may have been given to a detector before, which has not acknowledged it.
    package var isAgain: Bool

    package init(
        tag: UInt64, kind: ClusterKind, name: String, payload: [UInt8], arrival: Int64, isAgain: Bool = false
    ) {
        (self.tag, self.kind, self.name) = (tag, kind, name)
        (self.payload, self.arrival, self.isAgain) = (payload, arrival, isAgain)
    }
}

/// Who a message in the queue is from.
package enum ClusterKind: String, Sendable {
    /// Anybody, by its topic.
    case published = ""
    /// A detector that wants to know what was in the queue before.
    case marker
    /// A version of a network event, written down before it is published.
    case version
    /// What is known of a station, written down again so that it is never old.
    case station
}

/// What the detector wants done, in this order.
package enum ClusterAction: Sendable, Equatable {
    /// Into its own queue; the number comes back when the cluster has it.
    case keep(number: Int, kind: ClusterKind, name: String, payload: [UInt8])
    /// For all.
    case publish(number: Int, topic: String, payload: [UInt8])
    /// Nobody needs this message any more.
    case acknowledge(UInt64)
}

/// What the engine is told.
package struct ClusterOptions: Sendable {
    package var root = "seismote"
    package var queue = "seismote-network"
    package var version = ""
    package var isSettled = false
    package var confirms = false
    /// Prefix of Home Assistant's discovery; empty: it is told nothing.
    package var homeAssistant = ""
    package var statusSeconds = 60.0
    /// Seconds that a message is kept after it could be needed: clocks differ, and late ones come.
    package var margin = 300.0
    /// Seconds after which what is known of a station is written down again. Older messages in a quorum queue hold up
    /// all that is behind them on the disk.
    package var refreshSeconds = 1200.0
    /// Seconds after which a station that says nothing is forgotten.
    package var forgetSeconds = 30 * 86_400.0
    /// Messages that may be held; the broker gives no more than 65535.
    package var most = 60_000

    package init() {}
}

import Cluster
import Glibc
import Link
import Messages

/// `seismote network run` on a cluster: the program of its own that does it, because it alone needs librabbitmq. It is told
/// everything by its standard input, so that no password is among its arguments.
enum NetworkHandover {
    static let program = "seismote-network"

    /// Becomes that program.
    static func run(_ access: BrokerAccess, _ settings: NetworkSettings) throws(CtlError) -> Never {
        var ends: [Int32] = [0, 0]
        let order = order(access, settings).json
        // As much as a pipe holds without a reader.
        guard order.count < 60_000, pipe(&ends) == 0, write(ends[1], order, order.count) == order.count else {
            throw CtlError(status: .settings, "network.cluster: more than \(program) can be told")
        }
        close(ends[1])
        dup2(ends[0], STDIN_FILENO)
        close(ends[0])
        throw CtlError(status: .files, "network.cluster: " + Handover.become(program))
    }

    static func order(_ access: BrokerAccess, _ settings: NetworkSettings) -> ClusterOrder {
        var order = ClusterOrder()
        order.nodes = settings.cluster
        (order.username, order.password) = (access.username, access.password ?? "")
        (order.caFile, order.certFile, order.keyFile) = (access.tls.caFile, access.tls.certFile, access.tls.keyFile)
        order.options.root = access.root
        order.options.queue = settings.clientID
        order.options.version = productVersion
        order.options.homeAssistant = settings.homeAssistant
        (order.options.isSettled, order.options.confirms) = (settings.isSettled, settings.confirms)
        order.options.statusSeconds = settings.statusSeconds
        order.association = settings.association
        return order
    }
}

import Cluster
import Glibc
import Threads

/// `seismote-network`: the detector of a network of stations on a cluster of RabbitMQ. `seismote network run` starts it
/// where `network.cluster` names the nodes, and tells it by its standard input all that it has to know.
@main
enum Main {
    static func main() {
        var input: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while isatty(STDIN_FILENO) == 0 {
            let count = read(STDIN_FILENO, &part, part.count)
            if count <= 0 || input.count > 1 << 20 { break }
            input += part[..<count]
        }
        guard let order = ClusterOrder(json: input) else {
            say("seismote-network is started by `seismote network run`, with network.cluster in its settings")
            exit(64)
        }
        let nodes = order.nodes.compactMap { ClusterOrder.Node($0) }
        guard !nodes.isEmpty, nodes.count == order.nodes.count else {
            say("network.cluster: a node is amqp://host[:port] or amqps://host[:port]")
            exit(78)
        }
        EndSignals.listen([SIGHUP])
        ClusterService(order: order, nodes: nodes).run()
    }
}

/// Kinds of accounts, with the topics that each may read and write.
package enum Role: String, CaseIterable, Sendable {
    case station, viewer, commander
    case homeAssistant = "home-assistant"
    case network, feed, notify

    /// Lines of mosquitto's file of rights for an account of this kind.
    package func rights(of name: String) -> [String] {
        func read(_ topics: String...) -> [String] { topics.map { "topic read \($0)" } }
        func write(_ topics: String...) -> [String] { topics.map { "topic write \($0)" } }
        switch self {
        case .station:
            let own = "seismote/\(name)"
            // (One after the other: Debian 13's Swift 6.0.3 gives up on their sum as one expression.)
            var lines = write("\(own)/state/#", "\(own)/event/#", "\(own)/data/#", "\(own)/res/#")
            // An event that a power cut has interrupted is closed from what the broker retains of it; what others
            // write on its own topics it corrects.
            lines += read("\(own)/event/current", "\(own)/event/last", "\(own)/state/#")
            // Its test messages come back to it: with MQTT 3.1.1 nothing else tells that they were taken.
            lines += read("\(own)/+/selfcheck", "\(own)/+/+/selfcheck")
            lines.append("topic readwrite \(own)/cmd/selfcheck")
            // (A warning before S, `alarm.network.enabled`, needs the network's events.)
            lines += read("\(own)/cmd/#", "seismote/group/+/cmd/#", "seismote/network/event", "homeassistant/status")
            lines.append("topic readwrite homeassistant/+/seismote-\(name)/#")
            lines += write("renew/\(name)/csr", "renew/\(name)/joined")
            lines += read("renew/\(name)/cert")
            return lines
        case .viewer:
            return read("seismote/+/state/#", "seismote/+/event/#", "seismote/+/data/#", "seismote/network/#")
        case .commander:
            return Self.all
                + write("seismote/+/cmd/+", "seismote/group/+/cmd/+")
                // Who has seen an event of the network, and where stations are.
                + write("seismote/network/note/+", "seismote/network/place/+")
        case .homeAssistant:
            return Self.all
                + write("seismote/+/cmd/+")
                + read("seismote/release", "homeassistant/#")
                + write("homeassistant/status")
        case .network:
            return read("seismote/+/event/#", "seismote/+/data/history/event/#", "seismote/+/state/#")
                + ["topic readwrite seismote/network/#"]
                + write(
                    "seismote/+/cmd/resend", "seismote/+/cmd/rebirth", "seismote/+/cmd/confirm-event",
                    "seismote/group/all/cmd/rebirth", "homeassistant/+/seismote-network/#")
        case .feed:
            return read("seismote/+/state/#", "seismote/+/event/#", "seismote/+/data/#", "seismote/+/res/#")
                + ["topic readwrite seismote/network/feed/#"]
                + write("seismote/+/cmd/snapshot", "seismote/+/cmd/rebirth")
        case .notify:
            return read(
                "seismote/+/event/trigger", "seismote/+/state/online", "seismote/+/state/alert/#",
                "seismote/network/event")
                + write("seismote/network/notify/#")
        }
    }

    private static let all = [
        "topic read seismote/+/state/#", "topic read seismote/+/event/#", "topic read seismote/+/data/#",
        "topic read seismote/+/res/#", "topic read seismote/network/#",
    ]
}

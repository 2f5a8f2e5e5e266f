/// Topics that a broker allows or denies together, so that one refusal says enough of all of them. Pure.
enum TopicClass {
    /// Below the base of our topics: families without an end of members.
    private static let families = ["data/waveform", "data/history", "state/alert", "event/log", "res"]

    /// - Parameter base: what our own topics begin with; empty: each topic stands for itself.
    /// - Returns: a topic, or a filter that ends with `/#`.
    static func name(of topic: String, base: String, isRetained: Bool) -> String {
        guard !base.isEmpty else { return topic }
        if topic.isBelow(base) {
            for family in families {
                let parent = "\(base)/\(family)"
                if topic.isBelow(parent) { return "\(parent)/#" }
            }
        } else if isRetained, let end = topic.utf8.firstIndex(of: UInt8(ascii: "/")) {
            // Home Assistant's.
            return "\(topic[..<end])/#"
        }
        return topic
    }
}

extension String {
    /// Whether this filter takes a topic: one without wildcards, or with `/+` or `/#` at its end alone.
    func takes(_ topic: String) -> Bool {
        guard let last = utf8.last, last == UInt8(ascii: "#") || last == UInt8(ascii: "+") else { return self == topic }
        let parent = String(dropLast(2))
        guard topic.isBelow(parent) else { return false }
        return last == UInt8(ascii: "#") || !topic.utf8.dropFirst(parent.utf8.count + 1).contains(UInt8(ascii: "/"))
    }
}

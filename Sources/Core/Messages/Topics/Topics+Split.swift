// Topics that come from outside, taken apart.
extension Topics {
    /// Station and what comes after it: of `seismote/basement/state/info` `basement` and `state/info`.
    /// - Parameter root: what topics begin with, one level or several.
    /// - Returns: nil where the topic is of no station below this root; those of groups and of a network are not.
    public static func split(_ topic: String, root: String) -> (station: String, rest: String)? {
        guard let below = rest(of: topic, below: root)?.utf8, let slash = below.firstIndex(of: UInt8(ascii: "/")) else {
            return nil
        }
        let station = String(Substring(below[..<slash]))
        guard problem(inID: station) == nil else { return nil }
        return (station, String(Substring(below[below.index(after: slash)...])))
    }

    /// Where the operator of a network enters the place of a station; of all for `+`.
    public static func place(of station: String, root: String) -> String { "\(root)/network/place/\(station)" }

    /// The station whose place is entered on a topic, whatever its name; nil: the topic is another one.
    public static func stationPlaced(by topic: String, root: String) -> String? {
        rest(of: topic, below: "\(root)/network/place")
    }

    /// Rest of a topic behind its first levels and their slash. Bytes are compared, because a slash and an accent after
    /// it are one letter of Swift.
    /// - Returns: nil where the topic begins otherwise.
    public static func rest(of topic: String, below levels: String) -> String? {
        guard topic.utf8.starts(with: levels.utf8) else { return nil }
        let rest = topic.utf8.dropFirst(levels.utf8.count)
        guard rest.first == UInt8(ascii: "/") else { return nil }
        return String(Substring(rest.dropFirst()))
    }
}

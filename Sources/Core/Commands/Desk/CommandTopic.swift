import Messages

/// Which command a topic stands for.
struct CommandTopic: Equatable {
    /// The rest of the topic behind `cmd/`; not known to be a verb.
    var verb: String
    /// Nil: to this station alone.
    var group: String?

    /// Nil when it is no command for a station of these groups.
    init?(_ topic: String, _ topics: Topics, groups: [String]) {
        if let verb = Self.rest(of: topic, after: "\(topics.commandPrefix)/") {
            self.verb = verb
            return
        }
        guard let below = Self.rest(of: topic, after: "\(topics.root)/group/") else { return nil }
        for group in Topics.allGroups(groups) {
            if let verb = Self.rest(of: below, after: "\(group)/cmd/") {
                (self.verb, self.group) = (verb, group)
                return
            }
        }
        return nil
    }

    private static func rest(of text: String, after prefix: String) -> String? {
        guard text.utf8.starts(with: prefix.utf8) else { return nil }
        return String(Substring(text.utf8.dropFirst(prefix.utf8.count)))
    }
}

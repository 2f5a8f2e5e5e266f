import Messages
import Settings
import Values

/// Report on a change of settings, from the `done` of `config`, `config-rollback` and `config-reset`.
enum ConfigReport {
    static func text(_ reply: Reply) -> String {
        let result = reply.result
        let isDry = result["dry_run"]?.flag == true
        let changed = result["changed"]?.texts ?? []
        let revision = (result["rev"]?.whole ?? reply.revision).map { "rev \($0)" } ?? "done"
        if changed.isEmpty { return "\(revision), nothing changes" }
        var lines = [isDry ? "\(revision) now; this would change \(changed.count)" : "\(revision), changed"]
        for key in changed {
            // What it would be, where the station says it.
            var value = isDry ? result["config"] : nil
            for part in key.split(separator: ".") { value = value?[String(part)] }
            let effect = Self.effect(key, result, isDry)
            lines.append("  \(key)\(value.map { ": \(safe(YAMLDocument.line($0)))" } ?? "")\(effect)")
        }
        if let deadline = result["pending", "deadline"]?.rawText {
            lines.append("  will be reverted at \(timeOfDay(deadline)) UTC unless confirmed")
        }
        return lines.joined(separator: "\n")
    }

    private static func effect(_ key: String, _ result: Value, _ isDry: Bool) -> String {
        if result["needs_restart"]?.texts.contains(key) == true { return "   needs a restart of the agent" }
        if result["restart_stream"]?.texts.contains(key) == true { return "   the sensor is opened anew" }
        return isDry ? "   at once" : ""
    }
}

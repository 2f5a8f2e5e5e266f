import Messages
import Values

extension Settings {
    /// The merge patch that texts such as `trace.rate_hz=10` stand for, later ones above earlier ones; an empty value is
    /// null. What the keys and values mean is for the station to judge, which may know other settings.
    ///
    /// - Throws: an error for each text that is not `key=value`, or whose value is not YAML.
    public static func patch(_ texts: [String]) throws(CodedErrors) -> Value {
        var patch: Value = [:]
        var findings = Findings()
        for text in texts {
            do throws(CodedError) {
                let document = try CommandLineLayer.document(text)
                let key = text.prefix { $0 != "=" }.split(separator: ".")
                var value = document.root
                for part in key { value = value[String(part)] ?? .null }
                patch = SettingsTree.putting(value, at: key, into: patch)
            } catch {
                findings.add(error)
            }
        }
        guard findings.errors.isEmpty else { throw CodedErrors(findings.errors) }
        return patch
    }
}

import Messages
import SignalProcessing
import Values

/// A single filter as text, in the form that the settings have it.
public enum FilterText {
    /// Reads a filter in YAML or JSON: `shake:lp5`, `{butterworth: {type: lowpass, corner_hz: 5, order: 2}}`.
    ///
    /// - Parameter rate: samples per second that its corners must fit.
    /// - Throws: everything that is wrong with it.
    public static func read(_ text: String, rate: Double) throws(CodedErrors) -> FilterSpecification {
        var findings = Findings()
        do throws(CodedError) {
            let document = try YAMLReader.read(Array(text.utf8))
            let filter = Codec<FilterSpecification>.filter.decode(document.root, "", &findings)
            if let filter, findings.errors.isEmpty {
                CrossFieldRules.check(filter, "", rate, named: "the rate", &findings)
                if findings.errors.isEmpty { return filter }
            }
        } catch {
            findings.add(error)
        }
        throw CodedErrors(findings.errors)
    }

    /// The kinds of filters for people, each with its keys and what it does.
    public static var kinds: [String] {
        FilterFacts.all.map { "\($0.form): \($0.help)" }
    }

    /// The canonical form of a filter.
    public static func value(_ filter: FilterSpecification) -> Value {
        Codec<FilterSpecification>.filter.encode(filter)
    }

    /// The same on one line of YAML.
    public static func line(_ filter: FilterSpecification) -> String {
        if case .string(let name) = value(filter) { return name }
        return YAMLText.flow(value(filter))
    }
}

import Foundation
import Messages
import SignalProcessing
import TestSupport
import Testing

@testable import Settings

/// What holds for every kind of filter of the list.
@Suite struct FilterKindTests {
    @Test(arguments: FilterFacts.all.map(\.name))
    func aKindReadsBackAndRefusesWhatItHasNot(_ name: String) throws {
        let kind = try #require(FilterFacts.all.first { $0.name == name })
        #expect(
            !kind.title.isEmpty && kind.help.hasSuffix(".") && kind.parameters.allSatisfy { $0.help.hasSuffix(".") })
        let filter = try #require(FilterSpecification(kind: name, values: kind.parameters.map(\.value)))
        let line = FilterText.line(filter)
        #expect(line.hasPrefix("{\(name): {"))
        #expect(try FilterText.read(line, rate: 1000) == filter, "\(line)")
        // A key that there is not, and a rate that is too low for the lowest frequency.
        let wrong = "{\(name): {nonsense: 1, " + line.dropFirst("{\(name): {".count)
        expect([("/\(name)/nonsense", .unknownKey)], in: wrong, rate: 1000)
        guard let lowest = kind.frequencies.map(\.frequency).min() else { return }
        expect(kind.frequencies.map { ("/" + $0.path, .crossField) }, in: line, rate: 2 * lowest)
    }

    private func expect(_ errors: [(path: String, code: CodedError.Code)], in line: String, rate: Double) {
        do throws(CodedErrors) {
            _ = try FilterText.read(line, rate: rate)
            Issue.record("\(line) at \(rate) is taken")
        } catch {
            #expect(error.errors.map(\.path) == errors.map(\.path), "\(line)")
            #expect(error.errors.map(\.code) == errors.map(\.code), "\(line)")
        }
    }

    @Test func theListHasEachKindOnce() {
        let names = FilterFacts.all.map(\.name)
        #expect(names.prefix(2) == ["butterworth", "simple"] && Set(names).count == names.count)
    }

    /// The table of filters in the documents has every kind.
    @Test func theDocumentHasEveryKind() throws {
        let package = Vectors.folder.deletingLastPathComponent().deletingLastPathComponent()
        let page = package.appendingPathComponent("deploy/docs/reference/settings.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        for kind in FilterFacts.all {
            #expect(text.contains("| `\(kind.name)` | `\(kind.parameters[0].key)`"), "\(kind.name)")
        }
    }

    /// The form of the dashboard is made of it: no kind without title and help, no parameter without help.
    @Test func theSchemaSaysWhatEachKindIs() throws {
        guard case .array(let ways)? = SettingsSchema.value["$defs"]?["filter_stage"]?["anyOf"] else {
            Issue.record("no stages")
            return
        }
        for way in ways.dropFirst() {
            guard case .object(let kinds)? = way["properties"], let kind = kinds.first else {
                Issue.record("\(way)")
                continue
            }
            #expect(kind.value["title"] != nil && kind.value["description"] != nil, "\(kind.key)")
            var forms = [kind.value]
            if case .array(let two)? = kind.value["anyOf"] { forms = two }
            for form in forms {
                guard case .object(let parameters)? = form["properties"] else {
                    Issue.record("\(kind.key)")
                    continue
                }
                for parameter in parameters where forms.count == 1 || parameter.key != "type" {
                    #expect(parameter.value["description"] != nil, "\(kind.key).\(parameter.key)")
                }
            }
        }
    }
}

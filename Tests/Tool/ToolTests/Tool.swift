import Foundation
import TestSupport
import Testing

/// A run of the real `seismote`.
struct Tool {
    var status: Int?
    var output: String
    var errors: String

    init(_ arguments: String...) throws { try self.init(arguments) }

    init(_ arguments: [String]) throws {
        let child = try ChildProcess(AgentProcess.builtProgram("seismote"), arguments)
        status = child.wait(within: 60)
        (output, errors) = (child.output, child.errors)
    }

    /// The output as a JSON object.
    func object() throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
    }
}

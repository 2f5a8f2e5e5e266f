import Foundation

/// The real `seismoted`, from the folder of the test bundle, with a settings file of its own.
public final class AgentProcess: Sendable {
    public let folder: TemporaryFolder
    public let child: ChildProcess

    public static var program: String { builtProgram("seismoted") }

    /// A program of the package, next to the running test bundle.
    public static func builtProgram(_ name: String) -> String {
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let candidates = [bundle] + ProcessInfo.processInfo.arguments
        for candidate in candidates {
            var folder = URL(fileURLWithPath: candidate)
            while folder.path != "/" {
                folder.deleteLastPathComponent()
                let path = folder.appendingPathComponent(name).path
                if FileManager.default.isExecutableFile(atPath: path) { return path }
            }
        }
        return name
    }

    /// - Parameter settings: without `storage`, the agent keeps what it has to in the test's own folder.
    public init(
        settings: String, arguments: [String] = [], environment: [String: String] = [:]
    ) throws {
        folder = try TemporaryFolder()
        let kept = settings.contains("storage:") ? "" : "\nstorage: {directory: \"\(folder.path("state"))\"}\n"
        let file = try folder.write("seismote.yaml", settings + kept)
        child = try ChildProcess(Self.program, ["--config", file] + arguments, environment: environment)
    }
}

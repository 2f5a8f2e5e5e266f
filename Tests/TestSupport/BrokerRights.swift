import Foundation

/// The file of rights that the package `seismote-broker` makes for accounts. (The test target depends on the program.)
public enum BrokerRights {
    /// - Parameters:
    ///   - accounts: name and role each.
    ///   - folder: of the test; the files of the package come below it.
    /// - Returns: the path of the file.
    public static func make(_ accounts: [(name: String, role: String)], in folder: TemporaryFolder) throws -> String {
        let place = folder.path("seismote-broker")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let password = try folder.write("account-password", "long-enough-for-a-test\n")
        for (name, role) in accounts {
            let made = try ChildProcess(
                AgentProcess.builtProgram("seismote-broker"),
                ["add", name, "--role", role, "--password-file", password, "--no-qr", "--json"],
                environment: ["SEISMOTE_BROKER_FOLDER": place])
            guard made.wait(within: 60) == 0 else { throw TestFailure("no account \(name): \(made.errors)") }
        }
        return place + "/acl"
    }
}

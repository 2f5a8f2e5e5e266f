import Foundation
import TestSupport
import Testing

/// The program with a real mosquitto that reads its files.
@Suite struct ProgramTests {
    private let folder: TemporaryFolder
    private let place: String

    init() throws {
        folder = try TemporaryFolder()
        place = folder.path("broker")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    }

    private func run(_ words: [String]) throws -> (status: Int?, output: String, errors: String) {
        let child = try ChildProcess(
            AgentProcess.builtProgram("seismote-broker"), words, environment: ["SEISMOTE_BROKER_FOLDER": place])
        let status = child.wait(within: 60)
        return (status, child.output, child.errors)
    }

    private func add(_ name: String, _ password: String, role: String = "viewer") throws {
        let file = try folder.write("password", password + "\n")
        let made = try run([
            "add", name, "--role", role, "--password-file", file, "--no-qr", "--json", "--host", "b.test",
        ])
        guard made.status == 0 else { throw TestFailure(made.errors) }
    }

    private func letsIn(_ broker: Broker, _ name: String, _ password: String) throws -> Bool {
        let child = try ChildProcess(
            "/usr/bin/mosquitto_pub",
            ["-h", "127.0.0.1", "-p", "\(broker.port)", "-u", name, "-P", password, "-t", "x", "-n"])
        let status = child.wait(within: 20)
        guard status == 0 || status == 5 else { throw TestFailure("mosquitto_pub: \(child.errors)") }
        return status == 0
    }

    private func broker() throws -> Broker {
        try Broker("allow_anonymous false\npassword_file \(place)/passwords\nacl_file \(place)/acl")
    }

    @Test func anotherNameWithTheSameValueIsAnotherAccount() throws {
        try add("07", "password of 07")
        try add("1e2", "password of 1e2")
        for name in ["7", "100", "0x7", "07.0"] {
            let gone = try run(["remove", name])
            #expect(gone.status == (name.contains(".") ? 64 : 1))
        }
        let broker = try broker()
        #expect(try letsIn(broker, "07", "password of 07"))
        #expect(try letsIn(broker, "1e2", "password of 1e2"))
        #expect(try run(["remove", "07"]).status == 0)
        broker.reload()
        #expect(try eventually(within: 10) { try !letsIn(broker, "07", "password of 07") })
        #expect(try letsIn(broker, "1e2", "password of 1e2"))
    }

    @Test(arguments: ["ab:cdefgh12", " blanks at its ends ", "$7$101$x$y", "'\"\\`$(x)", "äöü€𝄞 12"])
    func aPasswordIsTheWholeLine(_ password: String) throws {
        try add("attic", password)
        let broker = try broker()
        #expect(try letsIn(broker, "attic", password))
        for other in [
            String(password.split(separator: ":")[0]), password.trimmingCharacters(in: .whitespaces),
            String(password.dropLast()), password + " ",
        ] where other != password {
            #expect(try !letsIn(broker, "attic", other))
        }
    }

    @Test func aBackupThatRevivesAnAccountSaysSo() throws {
        try add("attic", "password of attic")
        try add("hall", "password of hall")
        let saved = folder.path("saved")
        try FileManager.default.copyItem(atPath: place, toPath: saved)
        #expect(try run(["remove", "attic"]).errors == "")
        try FileManager.default.removeItem(atPath: place)
        try FileManager.default.moveItem(atPath: saved, toPath: place)
        #expect(try run(["list"]).errors.contains("The account attic was removed on "))
        #expect(try run(["tidy"]).errors.contains("The account attic was removed on "))
        #expect(try !run(["list"]).errors.contains("hall"))
        #expect(try run(["password", "attic", "--no-qr", "--host", "b.test"]).status == 0)
        #expect(try run(["list"]).errors == "")
    }

    @Test func aHundredInvitationsAreOneChange() throws {
        #expect(try run(["init", "--host", "b.test"]).status == 0)
        let made = try run(["invite", "--count", "100", "--no-qr", "--host", "b.test"])
        #expect(made.status == 0)
        #expect(made.output.split(separator: "\n").count == 100)
        // (A thousand, and how long they take, deploy/checks/accounts asks the optimized program.)
        let accounts = try String(contentsOfFile: place + "/accounts", encoding: .utf8)
        #expect(accounts.split(separator: "\n").count >= 100)
    }

    @Test func tidyWaitsForOthers() throws {
        #expect(try run(["init", "--host", "b.test"]).status == 0)
        let lock = open(place + "/.lock", O_RDWR)
        #expect(flock(lock, LOCK_EX) == 0)
        let child = try ChildProcess(
            AgentProcess.builtProgram("seismote-broker"), ["tidy"], environment: ["SEISMOTE_BROKER_FOLDER": place])
        #expect(child.wait(within: 0.5) == nil)
        close(lock)
        #expect(child.wait(within: 30) == 0)
    }
}

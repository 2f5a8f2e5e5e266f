import Foundation
import TestSupport
import Testing

@testable import MQTT

@Suite struct ExposedFileTests {
    @Test func filesWithSecretsThatAllMayReadAreNamed() throws {
        let folder = try TemporaryFolder()
        var options = LinkOptions(brokers: [], clientID: "c", presence: .init(topic: "t"))
        options.connection.mqtt.username = "board"
        options.connection.mqtt.passwordFile = try folder.write("password", "x")
        options.connection.mqtt.tls.keyFile = try folder.write("key", "x")
        options.connection.mqtt.tls.pskFile = try folder.write("psk", "x")
        options.connection.mqtt.tls.certFile = try folder.write("certificate", "x")
        let all = [
            options.connection.mqtt.passwordFile, options.connection.mqtt.tls.keyFile,
            options.connection.mqtt.tls.pskFile,
        ]
        for path in all + [options.connection.mqtt.tls.certFile] { #expect(chmod(path, 0o644) == 0) }
        #expect(options.exposedFiles == all)
        options.connection.mqtt.password = "in place of the file"
        #expect(options.exposedFiles == Array(all.dropFirst()))
        for path in all { #expect(chmod(path, 0o640) == 0) }
        #expect(options.exposedFiles.isEmpty)
    }
}

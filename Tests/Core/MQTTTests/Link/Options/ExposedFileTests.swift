import Foundation
import TestSupport
import Testing

@testable import MQTT

@Suite struct ExposedFileTests {
    @Test func filesWithSecretsThatAllMayReadAreNamed() throws {
        let folder = try TemporaryFolder()
        var options = LinkOptions(brokers: [], clientID: "c", presence: .init(topic: "t"))
        options.mqtt.username = "board"
        options.mqtt.passwordFile = try folder.write("password", "x")
        options.mqtt.tls.keyFile = try folder.write("key", "x")
        options.mqtt.tls.pskFile = try folder.write("psk", "x")
        options.mqtt.tls.certFile = try folder.write("certificate", "x")
        let all = [options.mqtt.passwordFile, options.mqtt.tls.keyFile, options.mqtt.tls.pskFile]
        for path in all + [options.mqtt.tls.certFile] { #expect(chmod(path, 0o644) == 0) }
        #expect(options.exposedFiles == all)
        options.mqtt.password = "in place of the file"
        #expect(options.exposedFiles == Array(all.dropFirst()))
        for path in all { #expect(chmod(path, 0o640) == 0) }
        #expect(options.exposedFiles.isEmpty)
    }
}

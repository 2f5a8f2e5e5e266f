import Foundation
import TestSupport
import Testing

@testable import MQTT

@Suite(.serialized) struct SecretFileTests {
    @Test func aKeyIsHexadecimal() {
        #expect(TransportSecurity.sharedKey("0123456789abcDEF") == [1, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef])
        #expect(TransportSecurity.sharedKey("00000a00") == [0, 0, 0x0a, 0])
        for digits in ["", "0", "123", "12 34", "0x12", "１２", "g", String(repeating: "1", count: 514)] {
            #expect(TransportSecurity.sharedKey(digits) == nil, "\(digits)")
        }
        #expect(TransportSecurity.sharedKey(String(repeating: "1", count: 512))?.count == 256)
    }

    @Test func whatIsNoFileOrTooLargeIsNotRead() throws {
        let folder = try TemporaryFolder()
        let large = try folder.write("large", String(repeating: "x", count: SecretFile.limit + 1))
        for path in [folder.url.path, "/dev/zero", large] {
            guard case .failure(let error) = SecretFile.read(path) else {
                Issue.record("read \(path)")
                continue
            }
            #expect(error.message.contains(path))
        }
    }

    @Test func aNameIsOneOfTheCredentialsOfTheService() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("mqtt-password", "geheim\nmore\n")
        #expect((try? SecretFile.read(path).get()) == "geheim")
        unsetenv("CREDENTIALS_DIRECTORY")
        guard case .failure(let error) = SecretFile.read("mqtt-password") else {
            Issue.record("read from nowhere")
            return
        }
        #expect(error.message.contains("mqtt-password"))
        setenv("CREDENTIALS_DIRECTORY", folder.url.path, 1)
        defer { unsetenv("CREDENTIALS_DIRECTORY") }
        #expect((try? SecretFile.read("mqtt-password").get()) == "geheim")
        #expect((try? SecretFile.read("../mqtt-password").get()) == nil)
    }
}

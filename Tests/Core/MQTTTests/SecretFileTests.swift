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

    /// Of a limit that nobody has the memory for nothing is used but what the file has; one that grows is read to its end.
    @Test func aFileIsReadByItsSize() throws {
        let folder = try TemporaryFolder()
        for size in [0, 1, 4095, 4096, 70_000] {
            let path = try folder.write("file", String(repeating: "x", count: size))
            #expect(try PlainFile.read(path, "file", limit: 1 << 44).count == size)
            #expect(try PlainFile.read(path, "file", limit: size).count == size)
            #expect(throws: MQTTError.self) { try PlainFile.read(path, "file", limit: size - 1) }
        }
        // (Its size is said to be 0.)
        #expect(try PlainFile.read("/proc/self/maps", "file", limit: 1 << 20).count > 1000)
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

    /// A defect: a byte-order mark became part of the password, and a letter of Latin-1 another one; the broker refused
    /// both without a reason.
    @Test func filesOfOtherEditorsAreReadOrNamed() throws {
        let folder = try TemporaryFolder()
        func read(_ bytes: [UInt8]) throws -> Result<String, MQTTError> {
            try Data(bytes).write(to: folder.url.appending(path: "secret"))
            return SecretFile.read(folder.path("secret"))
        }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        for end in ["", "\n", "\r\n", "\nmore"] {
            #expect((try? read(mark + Array("gehäim\(end)".utf8)).get()) == "gehäim")
        }
        let utf16: [UInt8] = [0x61, 0, 0x62, 0]
        let files: [(bytes: [UInt8], words: String)] = [
            ([0xFF, 0xFE] + utf16, "is UTF-16"), ([0xFE, 0xFF, 0, 0x61], "is UTF-16"), (utf16, "zero byte"),
            ([0x67, 0xE4, 0x0A], "is not UTF-8"), ([], "nothing in its first line"),
            (Array("\ngeheim".utf8), "nothing in its first line"), (mark + [0x0A], "nothing in its first line"),
        ]
        for (bytes, words) in files {
            guard case .failure(let error) = try read(bytes) else {
                Issue.record("read \(bytes)")
                continue
            }
            #expect(error.message.contains(words) && error.message.contains("secret\""), "\(error.message)")
            #expect(!error.message.contains("geheim"))
        }
    }
}

import Foundation
import TestSupport
import Testing

@testable import Spool

@Suite struct FolderLockTests {
    @Test func aSecondOneIsKeptOut() throws {
        let folder = try TemporaryFolder(isQuick: true)
        let path = folder.path("spool.lock")
        let first = try FolderLock(path)
        #expect(throws: SpoolError.self) { try FolderLock(path) }
        withExtendedLifetime(first) {}
    }

    /// A defect: until a child that was being started had begun its own program, it held the lock of what its parent had closed.
    @Test func aCopyOfTheDescriptorKeepsNobodyOut() throws {
        let folder = try TemporaryFolder(isQuick: true)
        let path = folder.path("spool.lock")
        var copy: Int32 = -1
        do {
            let first = try FolderLock(path)
            let own = (0..<Int32(1024)).first { Self.file($0) == path }
            copy = dup(try #require(own))
            withExtendedLifetime(first) {}
        }
        defer { close(copy) }
        #expect(throws: Never.self) { try FolderLock(path) }
    }

    /// Path of what a descriptor is of.
    private static func file(_ descriptor: Int32) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
    }
}

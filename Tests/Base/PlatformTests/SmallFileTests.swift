import Foundation
import TestSupport
import Testing

@testable import Platform

@Suite struct SmallFileTests {
    @Test func wholeFilesAndLimits() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("file")
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        #expect(SmallFile.bytes(path) == bytes && SmallFile.bytes(path, isRegular: true) == bytes)
        #expect(SmallFile.bytes(path, limit: 100_000) == Array(bytes.prefix(100_000)))
        // A part of a file that has to be whole is none.
        #expect(SmallFile.bytes(path, limit: 199_999, isRegular: true) == nil)
        #expect(SmallFile.bytes(path, limit: 200_000, isRegular: true) == bytes)
        #expect(SmallFile.bytes(folder.path("none")) == nil)
    }

    /// Only a regular file is read where that is asked for: neither a link nor a folder nor a pipe, and none is waited for.
    @Test func whatIsNoRegularFile() throws {
        let folder = try TemporaryFolder()
        let (file, link, pipe) = (folder.path("file"), folder.path("link"), folder.path("pipe"))
        try Data("text".utf8).write(to: URL(fileURLWithPath: file))
        #expect(symlink(file, link) == 0 && mkfifo(pipe, 0o600) == 0)
        for path in [link, pipe, folder.url.path] { #expect(SmallFile.bytes(path, isRegular: true) == nil, "\(path)") }
        #expect(SmallFile.text(link) == "text" && SmallFile.text(pipe) == "")
        #expect(SmallFile.text("/proc/self/comm")?.isEmpty == false)
    }

    @Test func spaceOfADisk() throws {
        let folder = try TemporaryFolder()
        let space = try #require(DiskSpace(folder.url.path))
        #expect(space.total >= space.free && space.free > 0 && !space.isReadOnly && space.path == folder.url.path)
        #expect(DiskSpace(folder.path("none")) == nil && errno == ENOENT)
        try Data().write(to: URL(fileURLWithPath: folder.path("file")))
        for below in ["", "/none", "/none/deeper", "/file", "/file/below"] {
            #expect(DiskSpace.folder(at: folder.url.path + below) == folder.url.path, "\(below)")
        }
        #expect(DiskSpace.folder(at: "/none") == "/" && DiskSpace.folder(at: "none") == "/")
    }
}

import Foundation
import TestSupport
import Testing
import Values

@testable import Platform

@Suite struct DurableFileTests {
    @Test func aFileIsReplacedAsAWhole() throws {
        let folder = try TemporaryFolder()
        let file = DurableFile(directory: folder.path("state"), name: "a.json")
        try file.write(["v": 1])
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == #"{"v":1}"#)
        try file.write(["v": 2])
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == #"{"v":2}"#)
        #expect(FolderNames.all(in: folder.path("state")) == ["a.json"], "nothing else is left")
    }

    @Test func theFormerOneIsKeptAndTakesThePlaceOfADamagedOne() throws {
        let folder = try TemporaryFolder()
        let file = DurableFile(directory: folder.path("state"), name: "a.json", keepsFormer: true)
        try file.write(Array("old".utf8))
        try file.write(Array("new".utf8))
        #expect(try String(contentsOfFile: file.formerPath, encoding: .utf8) == "old")
        file.setAside()
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "old")
        #expect(try String(contentsOfFile: file.path + ".damaged", encoding: .utf8) == "new")
    }

    /// Somebody has made folders where the files should be.
    @Test func foldersInTheWayAreMovedAside() throws {
        let folder = try TemporaryFolder()
        let file = DurableFile(directory: folder.path("state"), name: "a.json")
        for name in [file.path, file.path + ".new"] {
            try FileManager.default.createDirectory(atPath: name + "/inside", withIntermediateDirectories: true)
        }
        try file.write(["v": 1])
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == #"{"v":1}"#)
        #expect(FolderNames.all(in: file.path + ".damaged-1") == ["inside"])
    }

    @Test func onlyItsOwnerReadsItUnlessItIsPublic() throws {
        let folder = try TemporaryFolder()
        for (isPublic, mode) in [(false, mode_t(0o600)), (true, 0o644)] {
            let file = DurableFile(directory: folder.path("state"), name: "\(isPublic)", isPublic: isPublic)
            try file.write(.null)
            var facts = stat()
            #expect(stat(file.path, &facts) == 0 && facts.st_mode & 0o777 == mode)
        }
    }
}

@Suite struct FolderNamesTests {
    @Test func allNamesAreThereAndNoOthers() throws {
        let folder = try TemporaryFolder()
        for name in ["b", ".hidden", "a"] {
            try Data().write(to: URL(fileURLWithPath: folder.path(name)))
        }
        #expect(FolderNames.all(in: folder.path("")).sorted() == [".hidden", "a", "b"])
        #expect(FolderNames.all(in: folder.path("none")).isEmpty)
    }
}

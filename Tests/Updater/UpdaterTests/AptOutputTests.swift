import Messages
import Testing

@testable import seismote_update

@Suite struct AptOutputTests {
    @Test func whatAptWouldDoIsRead() {
        let text = """
            Inst seismote [0.1~deb13] (0.2~deb13 Seismote:13/trixie [amd64])
            Inst libfoo1 (1:2-3 Debian:13/stable [amd64]) []
            Remv seismote-broker [0.1~deb13]
            Conf seismote (0.2~deb13 Seismote:13/trixie [amd64])
            """
        #expect(AptOutput.installed(text) == ["seismote=0.2~deb13", "libfoo1=1:2-3"])
        #expect(AptOutput.removed(text) == ["seismote-broker"])
        #expect(AptOutput.reason("W: x\nE: Version '9' was not found\nE: more") == "E: Version '9' was not found")
        #expect(AptOutput.reason("fine") == "")
    }

    @Test func sizesAreRoundedUp() {
        #expect(AptOutput.megabytesToFetch("'file:/x' x_1.deb 1048577 SHA256:0\n'y' y.deb 1 MD5Sum:0\n") == 2)
        #expect(AptOutput.megabytesToFetch("nothing") == 0)
        #expect(AptOutput.megabytesUnpacked("Package: x\nInstalled-Size: 1024\n\nPackage: y\nInstalled-Size: 1\n") == 2)
    }

    @Test func needsOnOneDiskAreAdded() {
        func needs(_ free: Int, _ other: UInt64 = 1) -> [DiskNeeds.Need] {
            [
                .init("/a", disk: 1, free: free, size: 10), .init("/b", disk: other, free: 100, size: 50),
            ]
        }
        #expect(DiskNeeds.shortage(needs(80), spare: 20, fetch: 50, unpack: 0, copy: 10) == nil)
        #expect(
            DiskNeeds.shortage(needs(79), spare: 20, fetch: 50, unpack: 0, copy: 10)
                == "the disk of /a is too full: 79 MB are free, 80 MB are needed (50 MB to fetch, 0 MB unpacked, 10 MB for a copy of the data, 20 MB to spare)"
        )
        #expect(DiskNeeds.shortage(needs(79, 2), spare: 20, fetch: 50, unpack: 0, copy: 10) == nil)
    }

    /// Agent and updater read alike what the updater writes.
    @Test func theStateHasOneForm() throws {
        var message = UpdateMessage(phase: .watching, since: 1_700_000_000_000_000_000)
        (message.id, message.version, message.from, message.installed) = ("u", "2", "1", "2")
        (message.until, message.reason) = (1_700_000_600_000_000_000, "a \"b\"")
        message.ended = .init(updated: 1, refused: 2)
        var refused = UpdateMessage(phase: .refused, since: 1_700_000_001_000_000_000)
        refused.id = "second"
        let statement = UpdateStatement(message, refused: refused)
        let text = String(decoding: statement.json, as: UTF8.self)
        #expect(
            text.hasPrefix(
                #"{"phase":"watching","t":"2023-11-14T22:13:20Z","id":"u","version":"2","from":"1","until":"2023-11-14T22:23:20Z","installed":"2","ended":{"#
            ))
        #expect(UpdateStatement(json: statement.json) == statement)
        #expect(UpdateMessage(json: statement.json) == message)
        #expect(UpdateStatement(json: Array("{}".utf8)) == nil)
    }

    @Test func aRequestIsReadAsItIsWritten() {
        let request = UpdateRequest(version: "1:2.0~deb13+x", id: "a@b", isAutomatic: true, allowsDowngrade: true)
        let read = UpdateRequest.read(String(request.line.dropLast()))
        #expect(read.id == "a@b" && read.request == request)
        let plain = UpdateRequest.read("2 - confirm upwards")
        #expect(plain.id == nil && plain.request == UpdateRequest(version: "2"))
        // (An id that is none is left out.)
        #expect(UpdateRequest.read("2 x; auto upwards").id == nil)
        #expect(UpdateRequest.read("2; x auto upwards").request == nil)
    }
}

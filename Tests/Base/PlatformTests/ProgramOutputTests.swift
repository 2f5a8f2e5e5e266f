import Foundation
import Testing

@testable import Platform

@Suite struct ProgramOutputTests {
    /// More than a pipe takes at once comes whole, as it is.
    @Test(arguments: [false, true]) func theWholeTextIsWritten(nonBlocking: Bool) throws {
        let text = String(repeating: "line of some words é\n", count: 20_000)
        let pipe = Pipe()
        let end = pipe.fileHandleForWriting.fileDescriptor
        // (A blocking pipe takes all in one write.)
        if nonBlocking { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        Thread.detachNewThread {
            ProgramOutput.write(text, to: end)
            try? pipe.fileHandleForWriting.close()
        }
        let read = try pipe.fileHandleForReading.readToEnd()
        #expect(read.map { String(decoding: $0, as: UTF8.self) == text } == true)
    }

    /// Where nobody reads it is no error: nothing is waited for, and nothing is thrown.
    @Test func nobodyReads() {
        ProgramOutput.write("words", to: -1)
        ProgramOutput.write("", to: -1)
    }

    /// Scripts and units rely on them.
    @Test func statusesAreThoseOfSysexits() {
        let all: [Platform.ExitStatus] = [.fault, .usage, .data, .noInput, .unavailable, .files, .settings]
        #expect(all.map(\.rawValue) == [1, 64, 65, 66, 69, 74, 78])
    }
}

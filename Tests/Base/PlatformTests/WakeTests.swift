import Foundation
import Testing

@testable import Platform

@Suite struct WakeTests {
    @Test func isReadableFromTheFirstSignalUntilCleared() throws {
        let wake = try Wake()
        #expect(!wake.wait(milliseconds: 0))
        #expect(!wake.take())
        for _ in 0..<3 { wake.signal() }
        #expect(wake.wait(milliseconds: 0))
        #expect(wake.wait(milliseconds: 0))
        #expect(wake.take())
        #expect(!wake.wait(milliseconds: 0))
        wake.signal()
        wake.clear()
        #expect(!wake.take())
    }

    @Test func wakesAnotherThread() throws {
        let (there, back) = (try Wake(), try Wake())
        Thread.detachNewThread { if there.wait(milliseconds: 60_000) { back.signal() } }
        there.signal()
        #expect(back.wait(milliseconds: 60_000))
    }

    @Test func whatIsMissingIsNamed() {
        #expect(WakeError(code: EMFILE).description == "eventfd is not available: Too many open files")
    }
}

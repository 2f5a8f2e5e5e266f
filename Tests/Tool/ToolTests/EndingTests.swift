import ArgumentParser
import Exchange
import Sensors
import Station
import Testing

@testable import seismote

/// Errors that end a command with a status of their own.
@Suite struct EndingTests {
    @Test func eachErrorHasItsStatus() {
        let all: [(any Error, Int32)] = [
            (OutputError(path: "/a", code: 28), 74), (SensorError(.missing, "words"), 65),
            (StationXMLError("words"), 65), (ConversionError("words"), 65), (CalibrationError("words"), 1),
            (TuneError(status: .data, lines: ["a", "b"]), 65), (TuneError(status: .settings, lines: ["a"]), 78),
        ]
        for (error, status) in all {
            #expect(throws: ExitCode(status), "\(error)") { try ending { throw error } }
        }
    }

    /// What nobody expects stays what it is, as do ends that have been told already.
    @Test func othersStay() throws {
        #expect(throws: CtlError.self) { try ending { throw CtlError(status: .files, "words") } }
        #expect(throws: ExitCode(69)) { try ending { throw ExitCode(69) } }
        #expect(try ending { 1 } == 1)
    }
}

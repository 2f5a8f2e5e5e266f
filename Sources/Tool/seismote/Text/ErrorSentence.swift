import ArgumentParser
import Exchange
import Messages
import Platform
import Sensors
import ServerOptions
import Settings
import Station

/// Sentence for an error that nobody has expected at that place: never a value of Swift.
func sentence(of error: any Error) -> String {
    if let own = ownSentence(of: error) { return own }
    switch error {
    // What was wrong has been said.
    case let error as ExitCode: return "ended with status \(error.rawValue)"
    case let error as any CustomStringConvertible: return error.description
    default: return "unexpected error of the kind \(type(of: error))"
    }
}

/// The same of errors that have no words for people by themselves; nil for all others.
func ownSentence(of error: any Error) -> String? {
    switch error {
    case let error as CtlError: error.message
    case let error as CodedError: error.message
    case let error as CodedErrors: error.text(fileName: nil)
    case let error as FileError: error.message
    case let error as ConversionError: error.message
    case let error as TuneError: error.lines.joined(separator: "\n")
    case let error as StationXMLError: error.message
    default: nil
    }
}

/// Runs a part of a command; the errors that end one have their exit statuses here.
func ending<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch {
        switch error {
        case let error as OutputError: throw failure(error.description, .files)
        case let error as SensorError: throw failure(error.message, .data)
        case let error as StationXMLError: throw failure(error.message, .data)
        case let error as ConversionError: throw failure(error.message, .data)
        case let error as StationError: throw failure(error.description, .settings)
        case let error as CalibrationError: throw failure(error.message, .fault)
        case let error as TuneError: throw failure(error.lines.joined(separator: "\n"), error.status)
        default: throw error
        }
    }
}

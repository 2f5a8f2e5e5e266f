import ArgumentParser
import Exchange
import Files
import Messages
import Settings

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

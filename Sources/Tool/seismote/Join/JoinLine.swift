import Administration
import MQTT
import Messages
import Values

/// The line that an operator hands to a board: `HOST/NAME#TOKEN@FINGERPRINT`, made by `seismote-broker invite`.
struct JoinLine: Equatable {
    /// Where the board asks for its certificate, over TLS.
    let broker: BrokerAddress
    /// Station id that the invitation is for.
    let name: String
    /// Public number of the invitation: eight letters or digits.
    let id: String
    /// Secret by which the board proves that it was invited; goes nowhere but to the broker.
    let secret: String
    /// SHA-256 of the authority of the broker's certificate, 64 hexadecimal digits.
    let fingerprint: String
    /// As it was made, without what a person has copied with it.
    let text: String

    private static let idLength = 8
    private static let tokenLength = 34

    /// - Parameter text: the line, with `sudo seismote join` before it or not.
    /// - Throws: which part is wrong. The token is never in the sentence.
    init(_ text: String) throws(CtlError) {
        func wrong(_ why: String) -> CtlError {
            CtlError(
                status: .refused,
                "this is no line for joining: \(why). It has the form HOST/NAME#TOKEN@FINGERPRINT, as `seismote-broker invite` prints it"
            )
        }
        var words = text.split { $0 == " " || $0.isNewline || $0 == "\t" }.map(String.init)
        if let join = words.firstIndex(of: "join"), join < 3 { words.removeFirst(join + 1) }
        guard words.count == 1, let line = words.first else {
            throw wrong(words.isEmpty ? "it is empty" : "it has \(words.count) words")
        }
        guard let hash = line.firstIndex(of: "#"), let slash = line[..<hash].lastIndex(of: "/") else {
            throw wrong("/ or # is missing")
        }
        let rest = line[line.index(after: hash)...]
        guard let at = rest.lastIndex(of: "@") else { throw wrong("@ is missing") }
        name = String(line[line.index(after: slash)..<hash])
        if let problem = Topics.problem(inID: name) {
            throw wrong("`\(safe(name, limit: 80))` is no station id: \(problem)")
        }
        let token = rest[..<at]
        let length = Self.tokenLength
        guard token.isMade(length...length, of: { $0.isSmallLetter || (0x32...0x39).contains($0) }) else {
            throw wrong(
                "the token has \(token.count) characters: there have to be \(length) of a-z and 2-9")
        }
        (id, secret) = (String(token.prefix(Self.idLength)), String(token.dropFirst(Self.idLength)))
        guard let digits = Fingerprint.digits(String(rest[rest.index(after: at)...])) else {
            throw wrong("the fingerprint has to have 64 hexadecimal digits")
        }
        fingerprint = digits
        do throws(MQTTError) {
            broker = try BrokerAddress(uri: "mqtts://\(line[..<slash])")
        } catch { throw wrong(error.message) }
        self.text = line
    }

    /// Account that has the token as its password.
    var account: String { "enrol-\(id)" }
    var requestTopic: String { "enrol/\(id)/csr" }
    var answerTopic: String { "enrol/\(id)/cert" }
}

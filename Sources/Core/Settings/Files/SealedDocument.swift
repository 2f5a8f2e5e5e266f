import Messages
import Values

/// An object with a check sum: the digest of all bytes before it, as the last member.
///
/// JSON alone does not show damage: one flipped bit turns a latitude of 48 into one of 49.
public enum SealedDocument {
    /// Key of the check sum.
    public static let member = "sum"

    /// The file's bytes.
    public static func bytes(_ document: Value) -> [UInt8] {
        let body = [UInt8](document.json().dropLast())
        return body + seal(of: body)
    }

    /// The object of a file, and whether it has a check sum. Files of versions before this one have none, nor has one that
    /// a person has edited and taken it out of.
    ///
    /// - Parameter known: all other keys. A file without a check sum has no others: it may be the key `sum` that was hit.
    /// - Throws: `syntax`: the file is not as it was written.
    public static func read(
        _ bytes: [UInt8], known: [String]
    ) throws(CodedError) -> (document: Value, isSealed: Bool) {
        let document: Value
        do throws(ReadingError) { document = try JSONReader.read(bytes) } catch { throw CodedError(error) }
        guard case .object(let members) = document else {
            throw CodedError("", .syntax, "It is not a JSON object.")
        }
        guard members.contains(where: { $0.key == member }) else {
            if let other = members.first(where: { !known.contains($0.key) }) {
                throw CodedError("/\(other.key)", .unknownKey, "It has a member that no version has written.")
            }
            return (document, false)
        }
        let end = bytes.lastIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? 0
        let length = seal(of: []).count
        let body = bytes[...end].dropLast(length)
        guard end >= length, bytes[...end].suffix(length).elementsEqual(seal(of: [UInt8](body))) else {
            throw CodedError(
                "/\(member)", .syntax,
                "Its check sum does not agree: it is damaged, or was edited without taking the member `\(member)` out.")
        }
        return (document, true)
    }

    private static func seal(of body: [UInt8]) -> [UInt8] {
        Array(",\"\(member)\":\"\(SHA256.hexDigest(of: body))\"}".utf8)
    }
}

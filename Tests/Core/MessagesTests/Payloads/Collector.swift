import Foundation

@testable import Messages

/// Keeps what a messenger hands out.
final class Collector {
    struct Sent {
        var header: PublicationHeader
        var bytes: [UInt8]
    }
    var sent: [Sent] = []

    func sink(_ header: PublicationHeader, _ bytes: UnsafeRawBufferPointer) {
        sent.append(Sent(header: header, bytes: Array(bytes)))
    }
}

extension Collector.Sent {
    func object() throws -> [String: Any] {
        guard let object = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else {
            throw NotAnObject()
        }
        return object
    }

    struct NotAnObject: Error {}
}

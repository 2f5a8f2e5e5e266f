import Values

/// The answer of the service `seismote-broker enrol` to a request for a certificate: what the service writes, and what a board
/// reads.
package enum EnrolmentAnswer: Equatable {
    /// Certificate (PEM), the authorities that the broker's own may be of, and the port for stations that have one.
    case certificate(String, authorities: String, port: Int)
    /// (Anybody's words: they are made harmless before they are shown.)
    case refused(String)

    /// - Parameter payload: JSON, from a broker that is known by its certificate; checked all the same.
    /// - Returns: nil when it is none.
    package init?(_ payload: [UInt8]) {
        guard let said = try? JSONReader.read(payload) else { return nil }
        if let error = said["error"]?.rawText {
            self = .refused(error)
            return
        }
        guard let text = said["certificate"]?.rawText, let others = said["authorities"]?.rawText,
            let port = said["port"]?.whole, (1...65_535).contains(port)
        else { return nil }
        let (own, authorities) = (Certificate.all(pem: text), Certificate.all(pem: others))
        guard own.count == 1, !authorities.isEmpty else { return nil }
        self = .certificate(own[0].pem, authorities: authorities.map(\.pem).joined(), port: port)
    }

    /// - Parameter name: of the station.
    package func message(to name: String) -> Value {
        switch self {
        case .certificate(let certificate, let authorities, let port):
            [
                "name": .string(name), "certificate": .string(certificate), "authorities": .string(authorities),
                "port": .int(Int64(port)),
            ]
        case .refused(let why): ["error": .string(why)]
        }
    }
}

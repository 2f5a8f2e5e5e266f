import Messages
import Values

/// Certificates that have expired, or will soon.
enum CertificateCheck {
    private static let day: Int64 = 86_400_000_000_000
    private static let soon: Int64 = 30

    static func judge(_ facts: Facts) -> [Verdict] {
        facts.certificates.judge { certificates in
            if certificates.isEmpty { return [.fine("none are in use")] }
            return certificates.map { judge($0, now: facts.now) }
        }
    }

    private static func judge(_ certificate: CertificateFacts, now: Int64) -> Verdict {
        let what = certificate.what
        guard let until = certificate.until else { return .skipped("\(what): \(certificate.problem)") }
        let date = dateAndTime(Timestamp(nanoseconds: until).description)
        let remedy =
            "Put a new one in its place (a file is read again at the next connection; a broker needs a reload); deploy/docs/understand/connection.md"
        if until <= now {
            return .wrong(Diagnosis("certificate_expired", "\(what) expired on \(date) (UTC).", remedy: remedy))
        }
        if let from = certificate.from, from > now {
            let begin = dateAndTime(Timestamp(nanoseconds: from).description)
            return .wrong(
                Diagnosis(
                    "certificate_early", "\(what) is valid only from \(begin) (UTC).",
                    remedy:
                        "Set the clock: see the check `clock`. If the clock is right, a wrong one made the certificate: deploy/docs/operate/troubleshooting.md"
                ))
        }
        let days = (until - now) / day
        if days < soon {
            return .wrong(
                Diagnosis(
                    "certificate_soon", .warning, "\(what) expires in \(days) days, on \(date) (UTC).", remedy: remedy))
        }
        return .fine("\(what) is valid for \(days) days")
    }
}

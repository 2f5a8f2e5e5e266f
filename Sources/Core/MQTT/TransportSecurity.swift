import CMosquitto
import CSharedKey
import Glibc
import Settings
import Values

/// TLS as libmosquitto 2.0.11 can do it. It asks for the certificate of the name or address in the broker's URI and sends
/// that as SNI; another server name cannot be set.
package enum TransportSecurity {
    /// Certificates and keys are smaller (bytes).
    static let fileLimit = 4 << 20

    /// Returns a sentence when the options cannot be used. The key of a PSK is never part of it.
    static func configure(_ handle: OpaquePointer, _ tls: MQTTConfiguration.TLS) -> String? {
        tls.pskIdentity.isEmpty ? setCertificates(handle, tls) : setSharedKey(handle, tls)
    }

    private static func setCertificates(_ handle: OpaquePointer, _ tls: MQTTConfiguration.TLS) -> String? {
        let code = mosquitto_tls_opts_set(handle, 1, tls.minimumVersion == .v13 ? "tlsv1.3" : nil, nil)
        if code != 0 { return "TLS options cannot be used: \(String(cString: mosquitto_strerror(code)))" }
        if !tls.alpn.isEmpty {
            let code = mosquitto_string_option(handle, MOSQ_OPT_TLS_ALPN, tls.alpn)
            if code != 0 { return "ALPN \"\(tls.alpn)\" cannot be used: \(String(cString: mosquitto_strerror(code)))" }
        }
        // OpenSSL would wait for ever at a pipe.
        if let problem = fileProblem(tls) { return problem }
        func orNil(_ text: String) -> String? { text.isEmpty ? nil : text }
        // MOSQ_OPT_TLS_USE_OS_CERTS makes every reconnect fail with INVAL; the directory does the same job.
        // And at the terminal for a pass phrase, unless it is told that there is none.
        let answer = mosquitto_tls_set(
            handle, orNil(tls.caFile), tls.caFile.isEmpty ? "/etc/ssl/certs" : nil, orNil(tls.certFile),
            orNil(tls.keyFile), { _, _, _, _ in 0 })
        guard answer != 0 else { return nil }
        return "TLS files cannot be used (CA \"\(tls.caFile)\", certificate \"\(tls.certFile)\", key "
            + "\"\(tls.keyFile)\"): \(String(cString: mosquitto_strerror(answer)))"
    }

    /// Why a file that TLS reads cannot be used; nil: all can. Asks the disk. (A shared key by the name of a systemd
    /// credential is left to the one who reads it.)
    package static func fileProblem(_ tls: MQTTConfiguration.TLS) -> String? {
        do throws(MQTTError) {
            guard tls.pskIdentity.isEmpty else {
                if tls.pskFile.hasPrefix("/") { _ = try PlainFile.read(tls.pskFile, "key file", limit: fileLimit) }
                return nil
            }
            _ = try read(tls.caFile, "CA file", .authorities)
            let certificates = try read(tls.certFile, "certificate", .certificate)
            let key = try read(tls.keyFile, "key file", .key)
            guard let certificates, let key else { return nil }
            return KeyFile.problem(certificates: certificates, at: tls.certFile, key: key, at: tls.keyFile)
        } catch { return error.message }
    }

    /// - Returns: nil when no file is named.
    private static func read(_ path: String, _ what: String, _ role: KeyFile.Role) throws(MQTTError) -> [UInt8]? {
        guard !path.isEmpty else { return nil }
        let bytes = try PlainFile.read(path, what, limit: fileLimit)
        if let problem = KeyFile.problem(bytes, as: role, path: path) {
            throw MQTTError("\(what) \"\(path)\" \(problem)")
        }
        if role != .key, KeyFile.certificates(bytes)?.count == 0 {
            throw MQTTError("\(what) \"\(path)\" is damaged: its first certificate cannot be read")
        }
        return bytes
    }

    /// A certificate of ours that is not valid now, as a sentence to be put behind what the broker or OpenSSL says; empty:
    /// all are valid, or there are none.
    /// - Parameter now: seconds since 1970.
    static func validity(_ tls: MQTTConfiguration.TLS, now: Int64) -> String {
        guard tls.pskIdentity.isEmpty else { return "" }
        for (path, what, setting) in [
            (tls.certFile, "client certificate", "cert_file"), (tls.caFile, "CA file", "ca_file"),
        ]
        where !path.isEmpty {
            guard let bytes = try? PlainFile.read(path, what, limit: fileLimit),
                let (count, from, until) = KeyFile.certificates(bytes), count > 0
            else { continue }
            if until <= now {
                return "; the \(what) \"\(path)\" (mqtt.tls.\(setting)) expired on \(date(until))"
            }
            if from > now {
                return
                    "; the \(what) \"\(path)\" (mqtt.tls.\(setting)) is valid only from \(date(from)): is the clock right?"
            }
        }
        return ""
    }

    private static func date(_ seconds: Int64) -> String {
        String(Timestamp(nanoseconds: seconds * 1_000_000_000).description.prefix(10))
    }

    /// In a context of our own (see CSharedKey.h). In the library's, no certificate would be verified, so that with TLS 1.3
    /// a server that does not know the key could show any instead and would get the password; and the key is found there
    /// only in a process in which the library has made a context by itself before.
    private static func setSharedKey(_ handle: OpaquePointer, _ tls: MQTTConfiguration.TLS) -> String? {
        let digits: String
        switch SecretFile.read(tls.pskFile, what: "key file") {
        case .success(let text): digits = text
        case .failure(let problem): return problem.message
        }
        guard let key = sharedKey(digits) else {
            return
                "the key in \"\(tls.pskFile)\" cannot be used: it has to be hexadecimal, an even number of at most 512 digits"
        }
        guard
            let context = csharedkey_create(
                tls.pskIdentity, key, key.count, tls.minimumVersion == .v13, tls.alpn)
        else { return "a shared key cannot be used: OpenSSL is not there, or does not take the options" }
        // The library takes a reference of its own.
        defer { csharedkey_release(context) }
        _ = mosquitto_int_option(handle, MOSQ_OPT_SSL_CTX_WITH_DEFAULTS, 0)
        let code = mosquitto_void_option(handle, MOSQ_OPT_SSL_CTX, context)
        return code == 0 ? nil : "a shared key cannot be used: \(String(cString: mosquitto_strerror(code)))"
    }

    /// The bytes of a key; nil: it is none.
    static func sharedKey(_ digits: String) -> [UInt8]? {
        guard (1...512).contains(digits.utf8.count), digits.utf8.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        var half: UInt8?
        for digit in digits.utf8 {
            let value: UInt8
            switch digit {
            case 48...57: value = digit - 48
            case 65...70: value = digit - 55
            case 97...102: value = digit - 87
            default: return nil
            }
            if let high = half { bytes.append(high << 4 | value) }
            half = half == nil ? value : nil
        }
        return bytes
    }

    /// A sentence for what OpenSSL says through the library, such as `OpenSSL Error[0]: error:0A000086:SSL
    /// routines::certificate verify failed`.
    static func explain(_ text: String) -> String {
        let last =
            text.utf8.lastIndex(of: UInt8(ascii: ":")).map { String(text[text.utf8.index(after: $0)...]) } ?? text
        let detail = last.hasPrefix(" ") ? String(last.dropFirst()) : last
        switch detail {
        case "certificate verify failed":
            return
                "TLS: the broker's certificate was not accepted: expired, not of a known authority, or for another host"
        case "tlsv13 alert certificate required": return "TLS: the broker \(demand)"
        case "sslv3 alert handshake failure", "ssl/tls alert handshake failure":
            return "TLS: the broker refuses: there is no cipher in common, or it \(demand)"
        default: break
        }
        // Not with `contains` of a text: that would bring the regular expressions of the standard library along (1 MB).
        let words = detail.split { $0 == " " }
        guard words.contains("alert"), words.contains("certificate") || words.last == "ca" else {
            return "TLS: \(detail)"
        }
        return "TLS: the broker does not accept our client certificate: \(detail)"
    }

    private static let demand = "demands a client certificate (mqtt.tls.cert_file and key_file)"

    /// A sentence for a TLS connection that the broker has ended before it answered: who misses or does not know the
    /// client's certificate or key mostly hangs up, and what it says of that is lost with the connection.
    /// - Parameters:
    ///   - code: of libmosquitto.
    ///   - number: `errno`.
    /// - Returns: nil when it was something else.
    static func hungUp(_ tls: MQTTConfiguration.TLS, code: Int32, number: Int32) -> String? {
        let isEnd =
            code == MOSQ_ERR_CONN_LOST.code || code == MOSQ_ERR_TLS.code
            || code == MOSQ_ERR_ERRNO.code && [EPROTO, ECONNRESET, EPIPE].contains(number)
        guard isEnd else { return nil }
        let guess =
            if !tls.pskIdentity.isEmpty {
                "perhaps it does not know the key, or has another"
            } else if !tls.certFile.isEmpty {
                "perhaps it does not accept the client certificate"
            } else { "perhaps it \(demand)" }
        return "TLS: the broker hung up before it answered; \(guess)"
    }
}

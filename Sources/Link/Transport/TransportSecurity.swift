import CMosquitto
import Glibc

/// TLS as libmosquitto 2.0.11 can do it. It asks for the certificate of the name or address in the broker's URI and sends
/// that as SNI; another server name cannot be set.
package enum TransportSecurity {
    /// Hands back a sentence when the options cannot be used. The key of a PSK never is part of it.
    package static func configure(_ handle: OpaquePointer, _ tls: LinkOptions.TLS) -> String? {
        let code = mosquitto_tls_opts_set(handle, 1, tls.minimumVersion == .v13 ? "tlsv1.3" : nil, nil)
        if code != 0 { return "TLS options cannot be used: \(String(cString: mosquitto_strerror(code)))" }
        if !tls.alpn.isEmpty {
            let code = mosquitto_string_option(handle, MOSQ_OPT_TLS_ALPN, tls.alpn)
            if code != 0 { return "ALPN \"\(tls.alpn)\" cannot be used: \(String(cString: mosquitto_strerror(code)))" }
        }
        return tls.pskIdentity.isEmpty ? setCertificates(handle, tls) : setSharedKey(handle, tls)
    }

    private static func setCertificates(_ handle: OpaquePointer, _ tls: LinkOptions.TLS) -> String? {
        func orNil(_ text: String) -> String? { text.isEmpty ? nil : text }
        // MOSQ_OPT_TLS_USE_OS_CERTS makes every reconnect fail with INVAL; the directory does the same job.
        let code = mosquitto_tls_set(
            handle, orNil(tls.caFile), tls.caFile.isEmpty ? "/etc/ssl/certs" : nil, orNil(tls.certificateFile),
            orNil(tls.keyFile), nil)
        guard code != 0 else { return nil }
        return "TLS files cannot be used (CA \"\(tls.caFile)\", certificate \"\(tls.certificateFile)\", key "
            + "\"\(tls.keyFile)\"): \(String(cString: mosquitto_strerror(code)))"
    }

    private static func setSharedKey(_ handle: OpaquePointer, _ tls: LinkOptions.TLS) -> String? {
        let key: String
        switch SecretFile.read(tls.pskFile, what: "key file") {
        case .success(let text): key = text
        case .failure(let problem): return problem.message
        }
        if let problem = demandProof(handle) { return problem }
        let code = mosquitto_tls_psk_set(handle, key, tls.pskIdentity, nil)
        guard code != 0 else { return nil }
        return "the key in \"\(tls.pskFile)\" cannot be used: it has to be hexadecimal"
    }

    /// With a shared key libmosquitto verifies no certificate, and with TLS 1.3 a server that does not know the key may
    /// show any instead and would get the password. So the library is given a context that accepts no certificate at all,
    /// made with the OpenSSL that it has loaded.
    private static func demandProof(_ handle: OpaquePointer) -> String? {
        typealias Method = @convention(c) () -> OpaquePointer?
        typealias New = @convention(c) (OpaquePointer?) -> OpaquePointer?
        typealias Verify = @convention(c) (OpaquePointer?, Int32, OpaquePointer?) -> Void
        typealias Free = @convention(c) (OpaquePointer?) -> Void
        guard let method = dlsym(nil, "TLS_client_method"), let new = dlsym(nil, "SSL_CTX_new"),
            let verify = dlsym(nil, "SSL_CTX_set_verify"), let free = dlsym(nil, "SSL_CTX_free"),
            let context = unsafeBitCast(new, to: New.self)(unsafeBitCast(method, to: Method.self)())
        else { return "a shared key cannot be used: OpenSSL is not there" }
        unsafeBitCast(verify, to: Verify.self)(context, 1, nil)
        _ = mosquitto_int_option(handle, MOSQ_OPT_SSL_CTX_WITH_DEFAULTS, 1)
        let code = mosquitto_void_option(handle, MOSQ_OPT_SSL_CTX, UnsafeMutableRawPointer(context))
        // The library has taken a reference of its own.
        unsafeBitCast(free, to: Free.self)(context)
        return code == 0 ? nil : "a shared key cannot be used: \(String(cString: mosquitto_strerror(code)))"
    }

    /// A sentence for what OpenSSL says through the library, such as `OpenSSL Error[0]: error:0A000086:SSL
    /// routines::certificate verify failed`.
    package static func explain(_ text: String) -> String {
        let last =
            text.utf8.lastIndex(of: UInt8(ascii: ":")).map { String(text[text.utf8.index(after: $0)...]) } ?? text
        let detail = last.hasPrefix(" ") ? String(last.dropFirst()) : last
        guard detail == "certificate verify failed" else { return "TLS: \(detail)" }
        return "TLS: the broker's certificate was not accepted: expired, not of a known authority, or for another host"
    }
}

import Glibc

/// Addresses of the internet as bytes.
package enum IPAddress {
    /// Four bytes or sixteen; nil: it is no address.
    package static func bytes(_ text: String) -> [UInt8]? {
        var short = in_addr()
        if inet_pton(AF_INET, text, &short) == 1 { return withUnsafeBytes(of: short) { Array($0) } }
        var long = in6_addr()
        if inet_pton(AF_INET6, text, &long) == 1 { return withUnsafeBytes(of: long) { Array($0) } }
        return nil
    }
}

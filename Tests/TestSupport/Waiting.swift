import Foundation

/// Times that tests wait longer for what must come: `SEISMOTE_TEST_PATIENCE`, for builds that are slow (sanitizers).
public let patience = max(1, Double(ProcessInfo.processInfo.environment["SEISMOTE_TEST_PATIENCE"] ?? "") ?? 1)

/// Waits until something has come true, looking every 5 ms. False when it has not by the deadline.
public func eventually(
    within seconds: Double = 30, _ condition: () throws -> Bool
) rethrows -> Bool {
    let deadline = Date().addingTimeInterval(seconds * patience)
    while try !condition() {
        if Date() > deadline { return false }
        usleep(5000)
    }
    return true
}

/// A folder of its own for one test, gone with the value; in `SEISMOTE_TEST_FOLDER`, where that is set.
public final class TemporaryFolder: Sendable {
    public let url: URL

    /// - Parameter isQuick: in memory where the machine can, for an agent whose disk must never take longer than the 200 ms
    ///   that messages wait for it: beside other tests a real one may.
    public init(isQuick: Bool = false) throws {
        var place = ProcessInfo.processInfo.environment["SEISMOTE_TEST_FOLDER"].map { URL(fileURLWithPath: $0) }
        if isQuick, access("/dev/shm", W_OK) == 0 { place = URL(fileURLWithPath: "/dev/shm") }
        url = (place ?? FileManager.default.temporaryDirectory)
            .appendingPathComponent("seismote-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    public func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    @discardableResult
    public func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: url.appendingPathComponent(name))
        return path(name)
    }
}

/// Ports that nobody listens on.
public enum FreePort {
    public static func find() throws -> Int {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(socket, pointer, length) == 0 ? getsockname(socket, pointer, &length) : -1
            }
        }
        guard code == 0 else { throw TestFailure("no free port: \(String(cString: strerror(errno)))") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}

public struct TestFailure: Error, CustomStringConvertible {
    public var description: String
    public init(_ description: String) { self.description = description }
}

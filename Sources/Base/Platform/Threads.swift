import CLinux
import Glibc

/// A thread of its own that nobody joins: it ends with its work.
public enum DetachedThread {
    /// Starts it.
    /// - Parameters:
    ///   - name: as `top -H` and `/proc` show it; at most 15 bytes.
    ///   - work: what it does; kept until that is done.
    /// - Returns: nil, or why the system has not started it.
    public static func start(_ name: StaticString, _ work: @escaping () -> Void) -> String? {
        let box = Unmanaged.passRetained(Start(name, work))
        var id = pthread_t()
        let code = pthread_create(
            &id, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Start>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, box.toOpaque())
        guard code == 0 else {
            box.release()
            return String(cString: strerror(code))
        }
        pthread_detach(id)
        return nil
    }

    private final class Start {
        private let name: StaticString
        private let work: () -> Void

        init(_ name: StaticString, _ work: @escaping () -> Void) { (self.name, self.work) = (name, work) }

        func run() {
            name.withUTF8Buffer { bytes in
                bytes.withMemoryRebound(to: CChar.self) { clinux_set_thread_name($0.baseAddress) }
            }
            work()
        }
    }
}

/// Wakes a thread that waits for descriptors: readable from the first ``signal()`` until ``clear()``, however often it was
/// signalled between (eventfd). All may be called from any thread; none of them waits except ``wait(milliseconds:)``.
public final class Wake: Sendable {
    /// For poll and epoll; closed with this object.
    public let descriptor: Int32

    public init() throws(WakeError) {
        descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard descriptor >= 0 else { throw WakeError(code: errno) }
    }

    deinit { close(descriptor) }

    public func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    public func clear() { _ = take() }

    /// As `clear`.
    /// - Returns: whether it had been signalled.
    public func take() -> Bool {
        var count: UInt64 = 0
        return read(descriptor, &count, MemoryLayout<UInt64>.size) > 0
    }

    /// Waits until it is readable, and leaves it so.
    /// - Returns: false when it is not by then, or a signal came first.
    public func wait(milliseconds: Int32) -> Bool {
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&waited, 1, milliseconds) > 0
    }
}

/// The system has no descriptor for a ``Wake``.
public struct WakeError: Error, Sendable, Equatable, CustomStringConvertible {
    /// errno.
    public var code: Int32
    public var description: String { "eventfd is not available: \(String(cString: strerror(code)))" }
}

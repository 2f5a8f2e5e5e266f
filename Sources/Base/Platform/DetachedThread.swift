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

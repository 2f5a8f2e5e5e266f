import Glibc
import Synchronization

// All of the package's locks and atomic values come from here, so that the thread sanitizer can follow them:
// deploy/checks/sanitizers builds with SEISMOTE_TSAN.

/// Values that threads read and write without a lock.
public typealias Atomic = Synchronization.Atomic

#if SEISMOTE_TSAN
/// A value behind a lock that the thread sanitizer sees: it intercepts pthread's, while the standard library's waits in
/// the kernel in code that the sanitizer knows nothing of. The same calls as `Synchronization.Mutex`.
public struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    public init(_ initial: consuming sending Value) {
        lock = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
        value = .allocate(capacity: 1)
        value.initialize(to: initial)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    public borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return try body(&value.pointee)
    }
}
#else
/// A value behind a lock.
public typealias Mutex = Synchronization.Mutex
#endif

// What the sanitizers must say something about, and what they must not: one case per run. Compiled together with
// Sources/Base/Platform/Mutex.swift.
import Glibc

final class Shared: Sendable {
    let guarded = Mutex<[Int]>([])
    let isWritten = Atomic<Bool>(false)
    nonisolated(unsafe) var bare = 0
}

final class Start {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Two threads at the same time.
func twice(_ first: @escaping @Sendable () -> Void, _ second: () -> Void) {
    var id = pthread_t()
    pthread_create(
        &id, nil,
        { context in
            if let context { Unmanaged<Start>.fromOpaque(context).takeRetainedValue().body() }
            return nil
        }, Unmanaged.passRetained(Start(first)).toOpaque())
    second()
    pthread_join(id, nil)
}

@main struct Probe {
    static func main() {
        let shared = Shared()
        switch CommandLine.arguments.last {
        case "lock":
            // (Enough for the two to compete.)
            let work: @Sendable () -> Void = {
                for number in 0..<100_000 { shared.guarded.withLock { $0 = [number] } }
            }
            twice(work, work)
        case "atomic":
            twice(
                {
                    shared.bare = 1
                    shared.isWritten.store(true, ordering: .releasing)
                },
                {
                    while !shared.isWritten.load(ordering: .acquiring) {}
                    precondition(shared.bare == 1)
                })
        case "race":
            // (In turns: of two that run one after the other, as on a busy machine, the sanitizer misses every second.)
            let work: @Sendable () -> Void = {
                for _ in 0..<200 {
                    shared.bare += 1
                    usleep(1000)
                }
            }
            twice(work, work)
        case "inside", "outside":
            let numbers = UnsafeMutablePointer<Int>.allocate(capacity: 4)
            numbers.update(repeating: 1, count: 4)
            print(numbers[CommandLine.arguments.last == "inside" ? 3 : 4])
            numbers.deallocate()
        default: exit(2)
        }
    }
}

import Foundation
import Platform
import Testing

@Suite struct MutexTests {
    struct Failed: Error, Equatable {}

    /// Runs on threads of its own, and waits for all of them.
    static func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        let ended = DispatchGroup()
        for number in 0..<count {
            ended.enter()
            Thread.detachNewThread {
                body(number)
                ended.leave()
            }
        }
        ended.wait()
    }

    final class Shared: Sendable {
        let numbers = Mutex<[Int]>([])
        let started = Atomic<Int>(0)
    }

    @Test func oneThreadAtATime() {
        let shared = Shared()
        Self.onThreads(4) { number in
            shared.started.wrappingAdd(1, ordering: .relaxed)
            for _ in 0..<2000 { shared.numbers.withLock { $0.append(number) } }
        }
        #expect(shared.started.load(ordering: .relaxed) == 4)
        let numbers = shared.numbers.withLock { $0 }
        #expect(numbers.count == 8000)
        for number in 0..<4 { #expect(numbers.count { $0 == number } == 2000) }
    }

    @Test func anErrorOpensTheLock() {
        let value = Mutex(1)
        #expect(throws: Failed.self) {
            try value.withLock { value throws(Failed) in
                value = 2
                throw Failed()
            }
        }
        #expect(value.withLock { $0 } == 2)
    }

    @Test func theValueEndsWithTheLock() {
        final class Kept: Sendable {}
        weak var left: Kept?
        do {
            let kept = Kept()
            left = kept
            let value = Mutex(kept)
            value.withLock { #expect($0 === kept) }
        }
        #expect(left == nil)
    }
}

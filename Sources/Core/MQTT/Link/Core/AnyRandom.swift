/// A source of random numbers that is passed in as a function.
struct AnyRandom: RandomNumberGenerator {
    private let source: () -> UInt64
    init(_ source: @escaping () -> UInt64) { self.source = source }
    mutating func next() -> UInt64 { source() }
    static var system: AnyRandom {
        AnyRandom {
            var system = SystemRandomNumberGenerator()
            return system.next()
        }
    }
}

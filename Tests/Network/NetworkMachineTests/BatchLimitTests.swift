import Testing

@testable import seismote_network

@Suite struct BatchLimitTests {
    @Test("A batch that took too long makes the next one smaller in proportion")
    func slow() {
        var limit = BatchLimit(largest: 500, wanted: 0.5)
        #expect(limit.count == 500)
        limit.took(500, seconds: 5)
        #expect(limit.count == 50)
        limit.took(50, seconds: 5)
        #expect(limit.count == 5)
        limit.took(5, seconds: 500)
        #expect(limit.count == 1)
    }

    @Test("It grows again with what full batches cost, and is not made smaller by few fast messages")
    func fast() {
        var limit = BatchLimit(largest: 500, wanted: 0.5)
        limit.took(500, seconds: 5)
        limit.took(1, seconds: 0.001)
        #expect(limit.count == 50)
        limit.took(50, seconds: 0.01)
        #expect(limit.count == 75)
        for _ in 0..<10 { limit.took(limit.count, seconds: 0.01) }
        #expect(limit.count == 500)
    }

    @Test("At any cost of a message, batches settle within the wanted time", arguments: [1e-5, 1e-3, 0.01, 0.2, 0.499])
    func settled(cost: Double) {
        var limit = BatchLimit(largest: 500, wanted: 0.5)
        for _ in 0..<30 { limit.took(limit.count, seconds: Double(limit.count) * cost) }
        #expect(Double(limit.count) * cost <= 0.5)
        #expect(limit.count == 500 || Double(limit.count + 1) * cost > 0.25)
    }
}

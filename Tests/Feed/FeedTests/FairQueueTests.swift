import Testing

@testable import Feed

struct FairQueueTests {
    /// Has turns, one after the other or several at a time, in a time of its own.
    private struct Hall {
        struct Job { var owner: String, asked: Double, seconds: Double }
        var queue = FairQueue<Job>()
        var now = 0.0
        /// When each of the workers is free, and what it does until then.
        var workers: [(free: Double, job: Job?)]
        var waits: [String: [Double]] = [:]
        var given: [String: Double] = [:]

        init(workers: Int = 1) { self.workers = Array(repeating: (0, nil), count: workers) }

        mutating func ask(_ owner: String, _ seconds: Double) {
            queue.append(Job(owner: owner, asked: now, seconds: seconds), of: owner)
        }

        /// - Parameter more: whoever is served asks for as much again.
        mutating func run(until end: Double, again more: (String) -> Bool = { _ in false }) {
            while now < end {
                for index in workers.indices where workers[index].free <= now {
                    if let job = workers[index].job {
                        queue.end(of: job.owner, seconds: job.seconds)
                        given[job.owner, default: 0] += job.seconds
                        workers[index].job = nil
                        if more(job.owner) { ask(job.owner, job.seconds) }
                    }
                }
                for index in workers.indices where workers[index].job == nil {
                    guard let (job, owner) = queue.next() else { continue }
                    #expect(owner == job.owner)
                    waits[owner, default: []].append(now - job.asked)
                    workers[index] = (now + job.seconds, job)
                }
                let next = workers.lazy.filter { $0.job != nil }.map(\.free).min() ?? end
                now = min(end, max(next, now))
                if next >= end { break }
            }
            now = end
        }
    }

    @Test func nobodyWaitsBehindAllThatAnotherAsksFor() {
        var queue = FairQueue<Int>()
        for number in 0..<100 { queue.append(number, of: "greedy") }
        queue.append(1000, of: "modest")
        queue.append(1001, of: "modest")
        queue.append(2000, of: "late")
        var order: [Int] = []
        for _ in 0..<6 {
            guard let (item, owner) = queue.next() else { break }
            order.append(item)
            queue.end(of: owner, seconds: 0.01)
        }
        #expect(order == [0, 1000, 2000, 1, 1001, 2])
        var rest = 0
        while let (_, owner) = queue.next() {
            rest += 1
            queue.end(of: owner, seconds: 0.01)
        }
        #expect(rest == 97 && queue.isEmpty)
    }

    @Test func whoAsksForLittleWaitsForOneTurnHoweverManyAskForMuch() {
        var hall = Hall()
        for index in 0..<20 { hall.ask("bad \(index)", 0.005) }
        for second in 1...100 {
            hall.run(until: Double(second) / 10) { $0.hasPrefix("bad") }
            hall.ask("good", 0.001)
        }
        hall.run(until: 11) { $0.hasPrefix("bad") }
        let waits = hall.waits["good"] ?? []
        #expect(waits.count == 100 && waits.allSatisfy { $0 <= 0.0051 })
        // Nothing of the rest is lost.
        #expect(hall.given.values.reduce(0, +) > 10.9)
    }

    @Test func timeAndNotTheNumberOfTurnsIsSharedOut() {
        var hall = Hall()
        hall.ask("slow", 0.05)
        hall.ask("quick", 0.001)
        hall.run(until: 20) { _ in true }
        let share = (hall.given["slow"] ?? 0) / 20
        #expect((0.48...0.52).contains(share), "\(share)")
    }

    @Test func nobodySavesUpTimeByAskingForNone() {
        var hall = Hall()
        hall.ask("early", 0.01)
        hall.run(until: 1)
        hall.ask("busy", 0.01)
        hall.run(until: 100) { _ in true }
        // He comes again after long, and gets no more than half.
        hall.ask("early", 0.01)
        let before = hall.given["early"] ?? 0
        hall.run(until: 110) { _ in true }
        #expect(abs((hall.given["early"] ?? 0) - before - 5) < 0.1)
    }

    @Test func whoHasHadMuchComesAfterThoseWhoComeAnew() {
        var queue = FairQueue<String>()
        queue.append("first", of: "much")
        queue.append("other", of: "much")
        let first = queue.next()
        queue.append("mine", of: "little")
        queue.end(of: first?.owner ?? "", seconds: 1)
        #expect(queue.next()?.item == "mine")
        #expect(queue.next()?.item == "other" && queue.isEmpty)
    }

    @Test func severalWorkersShareOutTimeToo() {
        var hall = Hall(workers: 3)
        for index in 0..<20 { hall.ask("bad \(index)", 0.5) }
        hall.ask("quick", 0.001)
        hall.run(until: 100) { _ in true }
        // (One can have one worker at a time alone, and asks again when it is done.)
        let shares = hall.given.filter { $0.key.hasPrefix("bad") }.values
        #expect(shares.count == 20 && shares.allSatisfy { $0 >= 13 && $0 <= 15.5 }, "\(shares.sorted())")
        #expect((hall.given["quick"] ?? 0) > 9)
    }

    @Test func forgetsOwnersWhoAreDone() {
        var queue = FairQueue<Int>()
        for number in 0..<10_000 {
            queue.append(number, of: "\(number)")
            let turn = queue.next()
            #expect(turn?.item == number)
            // (One that has had much is not forgotten for those.)
            queue.end(of: "\(number)", seconds: number == 9000 ? 1000 : 0.0001)
        }
        queue.append(1, of: "9000")
        queue.append(2, of: "new")
        #expect(queue.next()?.item == 2)
        #expect(queue.next()?.item == 1)
    }
}

import Messages
import Testing
import Values

@testable import Station

/// What a network of stations says of an event.
@Suite struct ConfirmationTests {
    private let plain = try? OrderedRun(burst(), testConfiguration())

    private func run(_ said: [Int: [Bool]], of event: String? = nil) throws -> OrderedRun {
        let name = try #require(event ?? plain?.messages("event/last").last?["event_id"] as? String)
        return try OrderedRun(
            burst(), testConfiguration(),
            at: said.mapValues { all in
                { (pipeline, sink) in
                    for isConfirmed in all {
                        let one = EventConfirmation(eventID: name, networkEvent: "net-1", isConfirmed: isConfirmed)
                        pipeline.confirm(one, to: sink)
                    }
                }
            })
    }

    /// Samples of the plain run at which its event was open, and at which it was over.
    private func samples() throws -> (open: Int, over: Int) {
        let end = try #require(plain?.messages("event/last").last)
        let onset = try #require(Timestamp(end["onset"] as? String ?? "")?.nanoseconds)
        let over = try #require(Timestamp(end["end"] as? String ?? "")?.nanoseconds)
        let rate = burst().rate
        func sample(_ time: Int64) -> Int { Int(Double(time - burst().start) / 1e9 * rate) }
        return ((sample(onset) + sample(over)) / 2, sample(over) + Int(5 * rate))
    }

    @Test func theOpenEventIsMarkedAtOnceAndStaysSo() throws {
        let run = try run([samples().open: [true, true]])
        let marked = run.messages("event/trigger").filter { $0["confirmed"] as? Bool == true }
        #expect(run.messages("event/trigger").count == (plain?.messages("event/trigger").count ?? 0) + 1)
        #expect(marked.first?["event_type"] as? String == "update" && marked.last?["event_type"] as? String == "end")
        #expect(marked.allSatisfy { $0["network_event"] as? String == "net-1" })
        #expect(run.messages("event/last").last?["confirmed"] as? Bool == true)
        #expect(plain?.messages("event/trigger").allSatisfy { $0["confirmed"] == nil } == true)
    }

    @Test func itCanBeTakenBack() throws {
        let run = try run([samples().open: [true, false]])
        #expect(run.messages("event/last").last?["confirmed"] as? Bool == false)
    }

    /// After the end only the retained message is told anew: with the number of the end, so that none seems to be missing.
    @Test func theLastEventIsMarkedWhereItIsRetained() throws {
        let run = try run([samples().over: [true, true]])
        #expect(run.sent.filter { $0.name == "event/trigger" } == plain?.sent.filter { $0.name == "event/trigger" })
        let last = run.messages("event/last")
        #expect(last.map { $0["confirmed"] as? Bool } == [nil, true])
        #expect(last.first?["seq"] as? Int == last.last?["seq"] as? Int)
        let areRetained = run.sent.filter { $0.name == "event/last" }.allSatisfy(\.retain)
        #expect(areRetained)
    }

    @Test func ofAnotherEventNothingIsSaid() throws {
        let run = try run([samples().open: [true], samples().over: [true]], of: "test-20200101T000000000Z")
        #expect(run.sent == plain?.sent)
    }
}

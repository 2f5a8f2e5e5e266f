import Testing

@testable import SignalProcessing

@Test func windowLengthRoundsSecondsToSamplesAndNeverBelowOne() {
    #expect(WindowLength.seconds(0.2).samples(at: 31.25) == 6)
    #expect(WindowLength.seconds(0.001).samples(at: 100) == 1)
    // As in the reference: 2 s at 31.25 Hz are 62.5, so 62 samples.
    #expect(WindowLength.seconds(2).samples(at: 31.25) == 62)
    #expect(WindowLength.samples(20).samples(at: 1000) == 20)
}

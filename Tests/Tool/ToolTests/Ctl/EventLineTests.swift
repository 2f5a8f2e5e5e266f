import Messages
import Settings
import Testing
import Values

@testable import seismote

/// What an event is taken for, on one line.
@Suite struct EventLineTests {
    /// The percentage is the probability of an earthquake, and is never read as that of something else.
    @Test(arguments: [
        (#"{"likely":"disturbance","p":0.1}"#, "disturbance (earthquake 10 %)"),
        (#"{"likely":"disturbance","p":0}"#, "disturbance (earthquake 1 %)"),
        (#"{"likely":"unclassified","p":0.31}"#, "unclassified (earthquake 31 %)"),
        (#"{"likely":"earthquake","p":0.93}"#, "earthquake 93 %"),
        (#"{"likely":"earthquake","p":0.2}"#, "earthquake"),
        (#"{"likely":"earthquake"}"#, "earthquake"),
        (#"{"likely":"unclassified"}"#, "unclassified"),
        (#"{"p":0.5}"#, nil),
    ])
    func aPercentageSaysOfWhat(_ judged: String, _ text: String?) throws {
        let event = try JSONReader.read(Array(#"{"event_type":"end","class":\#(judged)}"#.utf8))
        #expect(EventLine.assessment(StationEventMembers(event)) == text)
    }

    /// An intensity or acceleration that a gap or a start makes uncertain is told as that; of a whole event nothing is said.
    @Test func whatIsNotCertainSaysSo() throws {
        func text(_ more: String, _ relation: String = "worden12") throws -> String {
            let intensity = #"[{"scale":"mmi","relation":"\#(relation)","value":7.1,"roman":"VII"}]"#
            let event = try JSONReader.read(Array(#"{"pga":2.5,"intensity":\#(intensity)\#(more)}"#.utf8))
            return EventLine.strength(StationEventMembers(event))
        }
        #expect(try text(#","gaps":1,"missing_s":0.2,"velocity_valid":false"#) == "2.5 m/s² VII (not certain)")
        #expect(try text(#","gaps":1,"missing_s":0.05"#) == "2.5 m/s² VII")
        #expect(try text("") == "2.5 m/s² VII")
        let rough = #","gaps":1,"missing_s":0.2,"acceleration_valid":false"#
        #expect(try text(rough) == "2.5 m/s² (not certain) VII")
        #expect(try text(rough, "gutenberg_richter") == "2.5 m/s² (not certain) VII (not certain)")
        #expect(try text(rough + #","velocity_valid":false"#) == "2.5 m/s² (not certain) VII (not certain)")
        #expect(try text(#","gaps":1,"velocity_valid":false"#, "gutenberg_richter") == "2.5 m/s² VII")
    }

    /// A line of the table has a cell for each name of the header; the last two say what is valid.
    @Test(arguments: [
        ("", "1,1"), (#","acceleration_valid":false"#, "1,0"), (#","velocity_valid":false"#, "0,1"),
        (#","acceleration_valid":false,"velocity_valid":false"#, "0,0"),
    ])
    func aTableSaysWhatIsValid(_ more: String, _ cells: String) throws {
        let event = try JSONReader.read(Array(#"{"event_id":"a-1","pga":2.5\#(more)}"#.utf8))
        let line = EventList.line("a", StationEventMembers(event))
        #expect(line.hasSuffix(",0,0,\(cells)"))
        #expect(line.filter { $0 == "," }.count == EventList.header.filter { $0 == "," }.count)
        #expect(EventList.header.hasSuffix(",velocity_valid,acceleration_valid"))
    }

    /// Numbers that stand side by side say over which time each is.
    @Test func numbersSayOverWhichTimeTheyAre() throws {
        let summary = try JSONReader.read(
            Array(
                #"{"pga":0.04,"pga_pct_g":0.41,"pgv":0.002,"window_s":10,"intensity":[{"relation":"worden12","value":3.1,"roman":"III","window_s":10},{"relation":"jma","value":1,"grade":"1","window_s":60}]}"#
                    .utf8))
        #expect(
            SummaryText.motion(SummaryReading(summary))
                == "PGA 0.04 m/s² (0.41 %g)  PGV 0.002 m/s  of 10 s  III (worden12, 10 s)  1 (jma, 60 s)")
    }

    /// The range is told as it was sent, in cm/s, and that nobody knows where it ends.
    @Test func theShakingToComeHasItsRange() throws {
        func text(_ saturated: Bool) throws -> String? {
            let onsite = #"{"pgv_predicted":0.03,"pgv_low":0.008,"pgv_high":0.13,"saturated":\#(saturated)}"#
            let event = try JSONReader.read(Array(#"{"event_type":"update","onsite":\#(onsite)}"#.utf8))
            return EventLine.assessment(StationEventMembers(event))
        }
        #expect(try text(false) == "PGV 3 cm/s to come (0.8 to 13)")
        #expect(try text(true) == "PGV 3 cm/s to come (0.8 to 13, may become much more)")
    }
}

import Testing
import Values

@testable import Exchange

/// Events of a station as QuakeML.
@Suite struct QuakeMLTests {
    /// A document says of the intensity and of the peak acceleration whether they are certain, each by itself.
    @Test(arguments: [
        ("", "worden12", false, false),
        (#","velocity_valid":false"#, "worden12", true, false),
        (#","acceleration_valid":false"#, "worden12", false, true),
        (#","acceleration_valid":false"#, "gutenberg_richter", true, true),
        (#","acceleration_valid":false,"velocity_valid":false"#, "worden12", true, true),
        (#","velocity_valid":false"#, "gutenberg_richter", false, false),
    ])
    func saysWhatIsNotCertain(_ more: String, _ relation: String, _ intensity: Bool, _ acceleration: Bool) throws {
        let event = """
            {"event_id":"a-1","onset":"2026-01-05T10:20:20Z","pga":2.5,"mmi":7.1,\
            "intensity":[{"scale":"mmi","relation":"\(relation)","value":7.1}]\(more)}
            """
        var document = QuakeML()
        document.add("a", try JSONReader.read(Array(event.utf8)), info: nil)
        let text = document.text
        #expect(text.contains("MMI 7.1 (not certain: samples are missing)") == intensity)
        #expect(text.contains("PGA not certain: samples are missing") == acceleration)
        #expect(text.contains("MMI 7.1") && text.contains("<value>2.5</value>"))
    }
}

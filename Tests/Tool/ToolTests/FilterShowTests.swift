import Foundation
import Testing

/// `seismote filter show`
@Suite struct FilterShowTests {
    /// SciPy 1.17.1: butter(2, 5, 'lowpass', fs=60, output='sos') (reference/filters.json).
    @Test func saysWhatAnIndependentDesignSays() throws {
        let shown = try Tool("filter", "show", "shake:lp5", "--rate", "60", "--at", "5,30", "--json").object()
        let section = try #require((shown["sections"] as? [[String: Any]])?.first)
        let b = try #require(section["b"] as? [Double])
        let a = try #require(section["a"] as? [Double])
        let expected = [
            0.04948995626867706, 0.09897991253735412, 0.04948995626867706, 1, -1.2796324249978088, 0.47759225007251704,
        ]
        for (found, known) in zip(b + a, expected) { #expect(abs(found - known) < 1e-15) }
        let response = try #require(shown["response"] as? [[String: Any]])
        let corner = try #require(response[0]["gain_db"] as? Double)
        #expect(abs(corner + 3.0103) < 1e-5)
        #expect(response[1]["gain"] as? Double == 0 && response[1]["gain_db"] is NSNull)
    }

    @Test func drawsTheGain() throws {
        let text = try Tool("filter", "show", "{simple: {type: highpass, corner_hz: 5}}", "--rate", "60").output
        #expect(text.contains("-60 dB ┼") && text.contains("half of the largest power (-3.01 dB) at 0.76"))
        let adaptive = try Tool(
            "filter", "show", "{simple: {type: lowpass, corner_hz: 5, adaptive: true}}", "--rate", "60"
        ).output
        #expect(adaptive.contains("At rest") && adaptive.contains("In motion"))
    }

    /// A kind that only its file and the list know of.
    @Test func showsANotchAndSaysWhatIsWrongWithOne() throws {
        let shown = try Tool(
            "filter", "show", "{notch: {frequency_hz: 50, quality: 30}}", "--rate", "200", "--at", "1,50", "--json"
        ).object()
        let response = try #require(shown["response"] as? [[String: Any]])
        #expect(response[0]["gain"] as? Double ?? 0 > 0.999)
        #expect(response[1]["gain"] as? Double ?? 1 < 1e-12)
        let wrong = try Tool("filter", "show", "{notch: {frequency_hz: 50, quality: 1}}", "--rate", "100")
        #expect(wrong.status == 78 && wrong.errors.contains("/notch/quality: This value is out of range."))
        let slow = try Tool("filter", "show", "{notch: {frequency_hz: 50}}", "--rate", "100")
        #expect(
            slow.status == 78
                && slow.errors.contains("/notch/frequency_hz: The frequency must be below half of the sample rate"))
        #expect(try Tool("filter", "show", "--help").output.contains("{notch: {frequency_hz, quality, start}}"))
    }
}

import Foundation
import Messages
import Settings
import SignalProcessing
import Testing
import Values

@testable import Exchange

@Suite struct StationXMLTests {
    private static func station(north: Double = 0) -> DescribedStation {
        var settings = Configuration()
        settings.station.id = "basement"
        settings.station.code = "BASE"
        settings.station.description = "Cellar <north> & \"boiler\"\u{1}"
        settings.sensor.mounting.north = north
        return DescribedStation(
            settings, sensor: .init(driver: "i2c", chip: "adxl355", rate: 100, range: 19.6, resolution: 3.8e-5))
    }

    @Test func channelsAreNamedAndPointAsTheyAreMounted() {
        let aligned = Self.station().channels
        #expect(aligned.map(\.source.channel) == ["HNE", "HNN", "HNZ", "BNE", "BNN", "BNZ"])
        #expect(aligned.map(\.azimuth) == [90, 0, 0, 90, 0, 0] && aligned.map(\.dip) == [0, 0, -90, 0, 0, -90])
        #expect(aligned.map(\.rate) == [100, 100, 100, 20, 20, 20])
        let turned = Self.station(north: -30).channels
        #expect(turned.map(\.source.channel).prefix(3) == ["HN1", "HN2", "HNZ"])
        #expect(turned.map(\.azimuth).prefix(3) == [60, 330, 0])
    }

    @Test func waveformsHaveTheUnitOfTheSensorAndTracesTheirOwn() {
        let channels = Self.station().channels
        #expect(abs(channels[0].sensitivity * 3.8e-5 - 1) < 1e-12 && abs(channels[3].sensitivity - 1e6) < 1e-6)
        let filter = DecimationFilter(factor: 5)
        #expect(channels[3].stages.count == 1 + filter.stages.count && channels[0].stages.count == 1)
    }

    @Test func tracesAtTheRateOfTheSensorAndNoneHaveNoChannelsOfTheirOwn() {
        var settings = Configuration()
        settings.trace.rate = 100
        #expect(DescribedStation(settings).channels.count == 3)
        settings.trace.rate = 20
        settings.trace.enabled = false
        #expect(DescribedStation(settings).channels.count == 3)
        settings.trace.enabled = true
        settings.trace.filter = .recursive
        #expect(DescribedStation(settings).channels[3].stages.count == 2)
    }

    @Test func theMessagesSayTheSameAsTheSettings() throws {
        let info: Value = [
            "station": ["id": "basement", "network": "XX", "code": "BASE", "location": "00", "description": "d"],
            "sensor": ["driver": "i2c", "chip": "adxl355", "rate_hz": 100, "range": 19.6, "resolution": 3.8e-5],
        ]
        let config: Value = ["config": ["trace": ["rate_hz": 20], "sensor": ["mounting": ["north_deg": 12.5]]]]
        var expected = Self.station(north: 12.5)
        expected.identity.description = "d"
        func described(_ info: Value, _ config: Value) -> DescribedStation? {
            DescribedStation(info: InfoReading(info), config: ConfigReading(config))
        }
        #expect(described(info, config) == expected)
        // Whatever strangers send.
        let nothings: [Value] = [[:], 1, ["sensor": 3], ["sensor": ["rate_hz": "x"]], ["sensor": ["rate_hz": 0]]]
        for nothing in nothings { #expect(described(nothing, config) == nil) }
        let odd: Value = ["config": ["trace": ["rate_hz": -1, "filter": 3, "enabled": "x"], "sensor": []]]
        #expect(described(info, odd)?.channels.count == 6)
    }

    @Test func textsAreEscapedAndLevelsLeaveOutWhatIsBelow() {
        let station = Self.station()
        let all = StationXMLWriter.document([station, station], created: 0)
        #expect(all.contains("<Name>Cellar &lt;north&gt; &amp; &quot;boiler&quot;?</Name>"))
        #expect(all.contains("give no position") && all.components(separatedBy: "<Network ").count == 2)
        #expect(all.components(separatedBy: "<Channel ").count == 13)
        let channels = StationXMLWriter.document([station], created: 0, level: .channel)
        #expect(channels.contains("<Channel ") && !channels.contains("<Response>"))
        let stations = StationXMLWriter.document([station], created: 0, level: .station)
        #expect(stations.contains("<Station ") && !stations.contains("<Channel "))
        #expect(!StationXMLWriter.document([station], created: 0, level: .network).contains("<Station "))
    }

    /// The poles and zeros of a recursive filter are those of its sections.
    @Test func rootsAndSectionsHaveTheSameResponse() {
        let filter = DecimationFilter(factor: 5, phase: .recursive)
        for frequency in [0.5, 3, 8, 9.9, 20] {
            var (whole, byRoots) = (1.0, 1.0)
            let angle = 2 * Double.pi * frequency / 100
            let (x, y) = (cos(angle), sin(angle))
            for section in filter.sections {
                let h = section.response(at: frequency, rate: 100)
                whole *= (h.re * h.re + h.im * h.im).squareRoot()
                byRoots *= section.b0
                for root in section.zeros { byRoots *= distance(x - root.re, y - root.im) }
                for root in section.poles { byRoots /= distance(x - root.re, y - root.im) }
            }
            #expect(abs(byRoots / whole - 1) < 1e-6)
        }
    }

    private func distance(_ x: Double, _ y: Double) -> Double { (x * x + y * y).squareRoot() }
}

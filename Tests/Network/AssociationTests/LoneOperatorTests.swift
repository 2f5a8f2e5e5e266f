import Messages
import Propagation
import Testing
import Values

@testable import Association

/// Events that the stations of one operator alone report.
@Suite struct LoneOperatorTests {
    private static let centre = Place(latitude: 35, longitude: -117.5)
    private static let offsets: [SIMD2<Double>] = [[14, 3], [-19, -18], [-16, 7], [17, -12]]

    private static func info(_ name: String, _ place: Place) -> Country.Message {
        .init(
            station: name, topic: "state/info",
            payload: [
                "station": [
                    "id": .string(name), "latitude": .double(place.latitude), "longitude": .double(place.longitude),
                ]
            ], time: Country.start)
    }

    /// Four stations that agree on an earthquake.
    /// - Parameters:
    ///   - others: kilometres to the east of stations without an onset.
    ///   - operators: entered for the four.
    private static func said(
        others: [Double], operators: [String?] = [nil, nil, nil, nil], _ options: AssociationOptions = .init()
    ) -> [NetworkEventMessage] {
        var detector = NetworkDetector(options, isEarly: true)
        let source = Hypocentre(origin: Country.start + 60, place: Place(offset: [2, -3], from: centre), depth: 10)
        var onsets: [Country.Message] = []
        for (i, offset) in offsets.enumerated() {
            let place = Place(offset: offset, from: centre)
            _ = detector.take(info("S\(i)", place))
            if let name = operators[i] {
                let entered: Value = [
                    "latitude": .double(place.latitude), "longitude": .double(place.longitude),
                    "operator": .string(name),
                ]
                _ = detector.enterPlace(entered, of: "S\(i)", arrival: nil)
            }
            onsets.append(Country.onset("S\(i)", source.arrival(.p, at: place)))
        }
        for (i, east) in others.enumerated() {
            _ = detector.take(info("Q\(i)", Place(offset: [east, Double(i)], from: centre)))
        }
        let versions = onsets.sorted { $0.time < $1.time }.flatMap { detector.take($0) } + detector.finish()
        return versions.map(\.message)
    }

    /// A defect: four accounts alone, 300 km from all other stations, made an event that nothing spoke against.
    @Test(arguments: [300.0, 900, 5000]) func whatOneOperatorAloneReportsIsDisputed(apart: Double) throws {
        let said = Self.said(others: [apart, apart + 20])
        #expect(!said.isEmpty)
        // From the start.
        for one in said { #expect(one.dispute == .loneOperator && one.isDisputed && one.magnitude == nil) }
        let last = try #require(said.last)
        let text = String(decoding: last.json(boot: "", number: 0, time: 0), as: UTF8.self)
        #expect(text.contains("\"disputed\":true") && text.contains("\"disputed_because\":\"lone_operator\""))
    }

    /// Who has no other stations on the broker, or two operators, or says that one is enough, is believed.
    @Test func othersAreBelieved() {
        var trusting = AssociationOptions()
        trusting.believesLoneOperator = true
        let cases = [
            Self.said(others: []), Self.said(others: [900], trusting),
            Self.said(others: [900], operators: ["Anna", "Anna", "Ben", "Anna"]),
            Self.said(others: [900], operators: ["Anna", nil, nil, nil]),
        ]
        for (i, said) in cases.enumerated() {
            #expect(!said.isEmpty && said.allSatisfy { !$0.isDisputed }, "case \(i)")
        }
        let same = Self.said(others: [900], operators: ["Anna", "Anna", "Anna", "Anna"])
        #expect(!same.isEmpty && same.allSatisfy(\.isDisputed))
    }
}

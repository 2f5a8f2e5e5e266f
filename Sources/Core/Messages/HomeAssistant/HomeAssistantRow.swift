import Seismology

/// An entity of a station, for one axis or relation where there is one for each, with its texts filled in.
struct HomeAssistantRow {
    let entity: HomeAssistantEntity
    /// The axis or the relation.
    private var subject = ""
    private var scale = ""
    private let base: String

    static let axes = ["x", "y", "z"]

    /// All of them in order.
    /// - Parameters:
    ///   - settings: those that change a setting.
    ///   - base: what the station's topics begin with.
    static func all(_ settings: [HomeAssistantEntity], base: String, _ body: (HomeAssistantRow) -> Void) {
        for entities in [HomeAssistantEntity.states, settings, HomeAssistantEntity.buttons] {
            for entity in entities { HomeAssistantRow(entity: entity, base: base).each(body) }
        }
    }

    private init(entity: HomeAssistantEntity, base: String) {
        self.entity = entity
        self.base = base
    }

    private func each(_ body: (HomeAssistantRow) -> Void) {
        var row = self
        switch entity.subject {
        case .station, .vibration, .warning: body(row)
        case .axis:
            for axis in Self.axes {
                row.subject = axis
                body(row)
            }
        case .relation:
            for relation in IntensityRelation.allCases {
                row.subject = relation.rawValue
                row.scale = relation.scale.rawValue.uppercased()
                body(row)
            }
        }
    }

    var component: String { entity.component.rawValue }
    var key: String { filled(entity.key) }
    var name: String { filled(entity.name) }
    /// Template of its value; empty: there is none.
    var value: String { filled(entity.value) }
    /// The setting that it changes, and the template of the patch.
    var setting: String? { entity.change.map { filled($0.key) } }
    var patch: String? { entity.change.map { filled($0.patch) } }
    /// Members of the object.
    var others: String { filled(entity.others) }

    /// Whether a station has it.
    func isThere(_ station: HomeAssistantStation) -> Bool {
        if let setting, station.locked.contains(setting) { return false }
        if entity.subject == .vibration { return station.hasVibration }
        if entity.subject == .warning { return station.hasWarning }
        return entity.subject != .relation || station.relations.contains { $0.rawValue == subject }
    }

    /// Seconds after which Home Assistant takes a value for gone that is not said again; nil: it stays.
    func lifetime(_ station: HomeAssistantStation) -> Int? {
        guard [.sensor, .binarySensor].contains(entity.component) else { return nil }
        switch entity.topic {
        // Every ten seconds.
        case "state/digest": return 60
        // One may be lost.
        case "state/health": return max(60, Int((2.5 * station.healthInterval).rounded(.up)))
        default: return nil
        }
    }

    private func filled(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "$"): bytes += subject.utf8
            case UInt8(ascii: "^"): bytes += scale.utf8
            case UInt8(ascii: "~"): bytes += base.utf8
            case UInt8(ascii: "&"): bytes += (base.utf8.lastIndex(of: UInt8(ascii: "/")).map { base[..<$0] } ?? "").utf8
            case UInt8(ascii: "@"): bytes += HomeAssistantEntity.filters.utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

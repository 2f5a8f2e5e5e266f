import Seismology

/// Home Assistant's entities of a station besides the settings that it can change, which their own rows declare
/// (`Setting.homeAssistant`).
///
/// (Home Assistant takes `none` for no choice at all, so that no filter has another name.) Members of messages that may be
/// missing are read with `get`, so that Home Assistant shows `unknown` and logs nothing.
extension HomeAssistantEntity {
    /// Measurements and states.
    static let states: [HomeAssistantEntity] = [
        .init(
            .sensor, "pga", "Peak ground acceleration", "state/digest",
            value: "value_json.pga",
            #""unit_of_measurement":"m/s²","state_class":"measurement","suggested_display_precision":4"#),
        .init(
            .sensor, "pgv", "Peak ground velocity", "state/digest",
            value: "value_json.pgv if value_json.valid else none",
            #""device_class":"speed","unit_of_measurement":"m/s","state_class":"measurement","suggested_display_precision":5"#
        ),
        .init(
            .sensor, "intensity_$", each: .relation, "Intensity ^ ($)", "state/digest",
            value:
                "value_json.intensity|selectattr('relation','eq','$')|map(attribute='value')|first|default(none) if value_json.valid else none",
            #""state_class":"measurement","suggested_display_precision":1,"json_attributes_topic":"~/state/digest","json_attributes_template":"{{ dict((value_json.intensity|selectattr('relation','eq','$')|first|default({})).items()|selectattr(0,'in',['scale','roman','grade','color']))|to_json }}""#
        ),
        .init(
            .sensor, "rms", "RMS", "state/digest",
            value: "value_json.v3.rms",
            #""unit_of_measurement":"m/s²","state_class":"measurement","suggested_display_precision":5"#),
        .init(
            .sensor, "dominant_frequency", "Dominant frequency", "state/digest",
            value: "value_json.get('spectrum',{}).get('dominant_hz')",
            #""device_class":"frequency","unit_of_measurement":"Hz","state_class":"measurement","suggested_display_precision":2"#
        ),
        .init(
            .binarySensor, "vibration", "Vibration", "state/digest",
            value: "'ON' if value_json.triggered else 'OFF'",
            #""device_class":"vibration""#),
        .init(
            .binarySensor, "earthquake", "Earthquake", "state/digest",
            value: "'ON' if value_json.get('class',{}).get('likely')=='earthquake' else 'OFF'",
            #""icon":"mdi:pulse""#),
        .init(
            .sensor, "earthquake_probability", "Earthquake probability", "state/digest",
            value: "(value_json.get('class',{}).get('p',0)*100)|round",
            #""unit_of_measurement":"%","state_class":"measurement","icon":"mdi:pulse""#),
        .init(
            .binarySensor, "alarm", "Alarm", "state/digest",
            value: "'ON' if value_json.get('alarm') else 'OFF'",
            #""icon":"mdi:alarm-light""#),
        .init(
            .binarySensor, "warning", each: .warning, "Strong shaking to come", "event/warning",
            value: "'ON' if value_json.state=='coming' and value_json.alarm else 'OFF'",
            #""device_class":"safety","json_attributes_topic":"~/event/warning","json_attributes_template":"{{ dict(value_json.items()|selectattr(0,'in',['state','network_event','version','alarm','s_arrival','mmi_range','distance_km','magnitude','issued'])|list)|to_json }}""#
        ),
        .init(
            .sensor, "warning_seconds", each: .warning, "Seconds until shaking", "event/warning",
            value: "value_json.seconds if value_json.state=='coming' else none",
            #""device_class":"duration","unit_of_measurement":"s","suggested_display_precision":0"#),
        .init(
            .sensor, "warning_intensity", each: .warning, "Intensity to come", "event/warning",
            value: "value_json.mmi if value_json.state=='coming' else none",
            #""suggested_display_precision":1,"icon":"mdi:waveform""#),
        .init(
            .sensor, "ppv", each: .vibration, "Peak particle velocity", "data/vibration",
            value: "[value_json.x.ppv,value_json.y.ppv,value_json.z.ppv]|max",
            #""device_class":"speed","unit_of_measurement":"mm/s","state_class":"measurement","suggested_display_precision":2,"json_attributes_topic":"~/data/vibration","json_attributes_template":"{{ dict(value_json.items()|selectattr(0,'in',['start','interval_s','seconds','pvs','limit','x','y','z'])|list)|to_json }}""#
        ),
        .init(
            .sensor, "kb_fmax", each: .vibration, "Vibration strength KB", "data/vibration",
            value: "[value_json.x.kb_fmax,value_json.y.kb_fmax,value_json.z.kb_fmax]|max",
            #""state_class":"measurement","suggested_display_precision":2"#),
        .init(
            .sensor, "vibration_dose", each: .vibration, "Vibration dose of day or night", "data/vibration",
            value: "[value_json.x.vdv_period,value_json.y.vdv_period,value_json.z.vdv_period]|max",
            #""unit_of_measurement":"m/s^1.75","suggested_display_precision":3"#),
        .init(
            .sensor, "vibration_share", each: .vibration, "Share of the vibration limit", "data/vibration",
            value: "(value_json.get('limit',{}).get('share',0)*100)|round(1)",
            #""unit_of_measurement":"%","state_class":"measurement""#),
        .init(
            .binarySensor, "vibration_limit", each: .vibration, "Vibration limit", "data/vibration",
            value: "'ON' if value_json.get('state')=='exceeded' else 'OFF'",
            #""device_class":"problem""#),
        .init(
            .event, "event", "Seismic event", "event/trigger",
            value:
                "dict(value_json.items()|selectattr(0,'in',['event_type','event_id','onset','end','pga','pga_pct_g','pgv','duration_s','intensity','dominant_hz','clipped','test','mmi','jma','alarm','onsite','acceleration_valid','velocity_valid','displacement_valid','gaps','missing_s'])|list+value_json.get('class',{}).items()|selectattr(0,'in',['likely','p','certain','moved','final'])|list+[('earthquake_probability',value_json.get('class',{}).get('p'))])|to_json",
            #""event_types":["onset","update","end"]"#),
        .init(
            .update, "version", "Version", "state/info",
            // (A Home Assistant before 2024.12 takes no message with a progress: it gets none of a station without the updater.
            // `.update` would be what every dictionary of Jinja has.)
            value:
                "dict([('installed_version',value_json.agent.version)]+([('update_percentage',value_json['update'].get('progress_pct'))] if 'update' in value_json else []))|to_json",
            #""latest_version_topic":"&/release","device_class":"firmware","entity_category":"diagnostic","json_attributes_topic":"~/state/update","json_attributes_template":"{{ dict(value_json.items()|selectattr(0,'in',['phase','since','version','from','until','reason'])|list)|to_json }}""#
        ),
        .init(
            .sensor, "temperature", "Sensor temperature", "state/health",
            value: "value_json.get('temperature_c')",
            #""device_class":"temperature","unit_of_measurement":"°C","state_class":"measurement","suggested_display_precision":1"#
        ),
        .init(
            .sensor, "clock_error", "Clock error", "state/health",
            value: "value_json.time.get('error_ms')",
            #""device_class":"duration","unit_of_measurement":"ms","state_class":"measurement","suggested_display_precision":2,"entity_category":"diagnostic""#
        ),
        .init(
            .binarySensor, "clock_problem", "Clock", "state/health",
            value: "'OFF' if value_json.time.synced or value_json.time.source=='replay' else 'ON'",
            #""device_class":"problem","entity_category":"diagnostic""#),
        .init(
            .binarySensor, "sensor_problem", "Sensor", "state/health",
            value: "'OFF' if value_json.sensor in ['ok','settling'] else 'ON'",
            #""device_class":"problem","entity_category":"diagnostic""#),
        .init(
            .sensor, "sensor_state", "Sensor state", "state/health",
            value: "value_json.sensor",
            #""entity_category":"diagnostic""#),
        .init(
            .sensor, "alerts", "Alerts", "state/health",
            value: "(value_json.alerts|join(', ')|truncate(250)) or 'none'",
            #""entity_category":"diagnostic""#),
        .init(
            // In minutes, so that it is the same each time.
            .sensor, "uptime", "Running since", "state/health",
            value:
                "(((as_timestamp(value_json.t)-value_json.uptime_s)/60)|int*60)|timestamp_custom('%Y-%m-%dT%H:%M:%S+00:00',false)",
            #""device_class":"timestamp","entity_category":"diagnostic""#),
        .init(
            .sensor, "rate", "Sample rate", "state/health",
            value: "value_json.get('rate_hz')",
            #""device_class":"frequency","unit_of_measurement":"Hz","suggested_display_precision":3,"entity_category":"diagnostic""#
        ),
        .init(
            .sensor, "gaps", "Gaps", "state/health",
            value: "value_json.gaps",
            #""state_class":"total_increasing","entity_category":"diagnostic""#),
        .init(
            .sensor, "clipped", "Clipped samples", "state/health",
            value: "value_json.clipped",
            #""state_class":"total_increasing","entity_category":"diagnostic""#),
        .init(
            .sensor, "outbox", "Messages waiting", "state/health",
            value: "value_json.outbox.messages",
            #""state_class":"measurement","entity_category":"diagnostic""#),
        .init(
            .sensor, "dropped", "Messages dropped", "state/health",
            value: "value_json.outbox.dropped.values()|sum",
            #""state_class":"total_increasing","entity_category":"diagnostic""#),
        .init(
            .sensor, "connects", "Connections", "state/health",
            value: "value_json.mqtt.connects",
            #""state_class":"total_increasing","entity_category":"diagnostic""#),
        .init(
            .sensor, "memory", "Memory", "state/health",
            value: "value_json.get('rss_bytes')",
            #""device_class":"data_size","unit_of_measurement":"B","entity_category":"diagnostic""#),
        .init(
            .sensor, "cpu", "Processor use", "state/health",
            value: "value_json.get('cpu_pct')",
            #""unit_of_measurement":"%","suggested_display_precision":1,"entity_category":"diagnostic""#),
        .init(
            .sensor, "revision", "Settings revision", "state/config",
            value: "value_json.rev",
            #""entity_category":"diagnostic""#),
        // (Chosen until the next event ends. Its options are the labels of the command.)
        .init(
            .select, "label", "Last event was", "event/last",
            value: "none",
            #""optimistic":true,"options":["earthquake","footsteps","jump","door","knock","furniture","machine","elevator","truck","bus","train","construction","wind","explosion","moved","other"],"json_attributes_topic":"~/event/last","json_attributes_template":"{{ {'event_id':value_json.event_id}|to_json }}","command_topic":"~/cmd/label","command_template":"{{ {'event_id':this.attributes.event_id,'label':value,'source':'Home Assistant'}|to_json }}""#
        ),
    ]

    static let buttons: [HomeAssistantEntity] = [
        .init(
            .button, "reset_extremes", "Reset extremes", "cmd/reset-extremes",
            #""entity_category":"config""#),
        .init(
            .button, "selftest", "Self-test", "cmd/selftest",
            #""entity_category":"diagnostic""#),
        .init(
            .button, "test_event", "Test event", "cmd/test-event",
            #""entity_category":"diagnostic""#),
    ]

    /// For `@`: band passes of second order by their corners, and filters by their name.
    static let filters = #"""
        "0.1-20 Hz","0.5-10 Hz","0.5-20 Hz","1-8 Hz","1-20 Hz","Shake low-pass 5 Hz","Shake high-pass 5 Hz","Shake band-pass 1-3 Hz","Shake band-pass 2.5-5 Hz","Shake band-pass 0.5-3 Hz","Shake band-pass 4-8 Hz"
        """#
}

/// An entity that Home Assistant is shown of a station, or one for each axis or intensity relation.
///
/// In all texts `$` stands for the axis or the relation, `^` for the relation's scale, `~` for what the station's topics
/// begin with, `&` for the root of all stations, and `@` for the filters that can be chosen.
public struct HomeAssistantEntity: Sendable {
    /// Home Assistant's platform.
    enum Component: String, Sendable {
        case sensor
        case binarySensor = "binary_sensor"
        case event, number, select, button, update
    }

    /// Subjects that each have one of it.
    public enum Subject: Sendable {
        case station, axis, relation
        /// The station, while it measures vibration.
        case vibration
        /// The station, while it warns of what the network has seen.
        case warning
    }

    /// A setting that it changes; it is left out where the file locks that.
    struct Change: Sendable {
        var key: String
        /// Template (Jinja) of the merge patch, with `value` in it.
        var patch: String
    }

    let component: Component
    let subject: Subject
    /// Unique within the station.
    let key: String
    /// For people.
    let name: String
    /// Below the station's: of its state or, for a button, of its command.
    let topic: String
    /// Template (Jinja) of its value, without the brackets around a plain expression; empty for a button.
    let value: String
    let change: Change?
    /// Other members of the object, as JSON.
    let others: String

    init(
        _ component: Component, _ key: String, each subject: Subject = .station, _ name: String, _ topic: String,
        value: String = "", change: Change? = nil, _ others: String = ""
    ) {
        self.component = component
        self.subject = subject
        self.key = key
        self.name = name
        self.topic = topic
        self.value = value
        self.change = change
        self.others = others
    }

    /// How Home Assistant can change a setting: what its row declares.
    public struct Control: Sendable {
        let component: Component
        let key: String
        let name: String
        /// Nil: made from the setting's key.
        let templates: (patch: String, value: String)?
        let others: String

        /// A number in a box.
        /// - Parameters:
        ///   - key: of the entity; with `$` there is one for each axis.
        ///   - name: of the entity, for people.
        ///   - others: limits, step and unit, as members of JSON.
        public static func number(_ key: String, _ name: String, _ others: String) -> Control {
            Control(
                component: .number, key: key, name: name, templates: nil, others: others + #","mode":"box""#)
        }

        /// One of several choices.
        /// - Parameter patch: template of the merge patch; `value`: that of the choice in force.
        public static func select(
            _ key: String, _ name: String, patch: String, value: String, options: String
        ) -> Control {
            Control(
                component: .select, key: key, name: name, templates: (patch, value),
                others: #""options":["# + options + "]")
        }
    }

    /// The entity of a setting.
    /// - Parameter setting: its key; `axes.all.` stands for each axis where the control has one for each.
    public init(_ control: Control, of setting: String) {
        let isForAxes = control.key.utf8.contains(UInt8(ascii: "$"))
        let path = setting.split(separator: ".").map { isForAxes && $0 == "all" ? "$" : String($0) }
        let patch = path.reversed().reduce("value") { "{'\($1)':\($0)}" }
        let templates = control.templates ?? (patch, "value_json.config." + path.joined(separator: "."))
        self.init(
            control.component, control.key, each: isForAxes ? .axis : .station, control.name, "state/config",
            value: templates.value, change: Change(key: path.joined(separator: "."), patch: templates.patch),
            control.others)
    }
}

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

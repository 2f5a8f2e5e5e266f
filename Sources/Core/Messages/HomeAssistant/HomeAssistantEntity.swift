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

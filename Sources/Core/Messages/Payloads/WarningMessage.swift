import Values

/// A station's expectation of an earthquake that its network has seen (`event/warning`).
public struct WarningMessage: Sendable, Equatable {
    public enum State: String, Sendable, CaseIterable { case coming, passed, cancelled }

    public var state: State
    /// Id of the network's event.
    public var networkEvent: String
    /// The network's version that it follows from.
    public var version: Int
    /// The alarm line plays the warning's pattern.
    public var alarm: Bool
    /// When the S wave arrives, nanoseconds of UTC; nil: the station's clock does not say.
    public var arrival: Int64?
    /// Seconds until then.
    public var seconds: Double
    /// Expected intensity (Mercalli), and the range that holds it with 68 %.
    public var intensity: Double
    public var range: ClosedRange<Double>
    /// From the epicentre, km.
    public var distance: Double
    public var magnitude: Double
    /// Nanoseconds of UTC.
    public var issued: Int64

    public init(
        state: State, networkEvent: String, version: Int, alarm: Bool, arrival: Int64?, seconds: Double,
        intensity: Double, range: ClosedRange<Double>, distance: Double, magnitude: Double, issued: Int64
    ) {
        (self.state, self.networkEvent, self.version, self.alarm) = (state, networkEvent, version, alarm)
        (self.arrival, self.seconds, self.intensity, self.range) = (arrival, seconds, intensity, range)
        (self.distance, self.magnitude, self.issued) = (distance, magnitude, issued)
    }

    /// The object without its envelope.
    public func json() -> [UInt8] { JSONWriter.object { fields(&$0) } }

    package func fields(_ f: inout some FieldVisitor) {
        f.choice(
            "state", state,
            """
            `coming`; `passed`: the S wave has been here for 10 s; `cancelled`: the network has withdrawn the event, or \
            expects too little here.
            """)
        f.text("network_event", networkEvent, "Id of the event in `network/event`.")
        f.integer("version", version, "The version of that event that this follows from.")
        f.flag("alarm", alarm, "True while it asks for the alarm line, from `alarm.network.mmi` on.")
        f.time(
            "s_arrival", arrival,
            "When the S wave arrives here; left out where the station's clock is not synchronised to 1 s: then at once."
        )
        f.number(
            "seconds", seconds, unit: "s", "From `issued` to `s_arrival`; below 0 it is here; 0 without `s_arrival`.")
        f.number("mmi", intensity, unit: "1", "Intensity to expect here (Atkinson, Worden and Wald 2014).")
        f.visit(
            Field("mmi_range", "Lower and upper end of the range that holds it with 68 %.", unit: "1"),
            [range.lowerBound, range.upperBound][...])
        f.number("distance_km", distance, unit: "km", "From the epicentre to the station.")
        f.number("magnitude", magnitude, unit: "1", "Magnitude of that version.")
        f.time("issued", issued, "When the station made this message.")
    }
}

import Values

/// Validity of an event's intensities, as others read it.
public enum CertainIntensity {
    /// Whether the velocity of an event, and the intensity from it, stands for the whole event.
    public static func isVelocityValid(_ event: Value) -> Bool { event["velocity_valid"] != .bool(false) }

    /// Whether the peak acceleration of an event is right within 2 %.
    public static func isAccelerationValid(_ event: Value) -> Bool { event["acceleration_valid"] != .bool(false) }

    /// The peaks from which the relation of an object of `intensity` is computed.
    static func basis(_ item: Value) -> (acceleration: Bool, velocity: Bool) {
        let relation = item["relation"]?.rawText
        let isJapan = item["scale"] == .string("jma") || relation == "jma"
        if isJapan || relation == "gutenberg_richter" { return (true, false) }
        return (relation == "wald99" || relation == "cwa", true)
    }

    /// Whether an object of `intensity` stands for the whole event: what enters it is valid.
    public static func isCertain(_ item: Value, in event: Value) -> Bool {
        let basis = basis(item)
        return (!basis.acceleration || isAccelerationValid(event)) && (!basis.velocity || isVelocityValid(event))
    }
}

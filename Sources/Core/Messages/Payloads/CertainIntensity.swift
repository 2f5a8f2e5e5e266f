import Values

/// Validity of an event's intensities, as others read it.
public enum CertainIntensity {
    /// Whether the velocity of an event, and the intensity from it, stands for the whole event.
    public static func isVelocityValid(_ event: Value) -> Bool { event["velocity_valid"] != .bool(false) }

    /// Whether the peak acceleration of an event is right within 2 %.
    public static func isAccelerationValid(_ event: Value) -> Bool { event["acceleration_valid"] != .bool(false) }

    /// Whether an object of `intensity` stands for the whole event: what enters it is valid.
    public static func isCertain(_ item: Value, in event: Value) -> Bool {
        let relation = item["relation"]?.rawText
        let isJapan = item["scale"] == .string("jma") || relation == "jma"
        let needsAcceleration = isJapan || ["gutenberg_richter", "wald99", "cwa"].contains(relation)
        let needsVelocity = !isJapan && relation != "gutenberg_richter"
        return (!needsAcceleration || isAccelerationValid(event)) && (!needsVelocity || isVelocityValid(event))
    }

    /// Whether `mmi` does, the intensity of the first relation of that scale.
    public static func isMercalliCertain(_ event: Value) -> Bool {
        guard let first = (event["intensity"]?.list ?? []).first(where: { $0["scale"] == .string("mmi") })
        else { return isVelocityValid(event) && isAccelerationValid(event) }
        return isCertain(first, in: event)
    }
}

import Values

/// Intensities of an event's message, as others read it.
public enum CertainIntensity {
    /// Whether the velocity of an event, and the intensity from it, stands for the whole event.
    public static func isVelocityValid(_ event: Value) -> Bool { event["velocity_valid"] != .bool(false) }

    /// The Mercalli intensity on which decisions may rest: of the first relation of that scale. Where the velocity is not
    /// valid, that from the acceleration alone; nil where there is none.
    public static func mercalli(of event: Value) -> Double? {
        if isVelocityValid(event), let value = event["mmi"]?.number { return value }
        guard case .array(let all)? = event["intensity"] else { return nil }
        return all.first { $0["scale"] == .string("mmi") }.flatMap { value(of: $0, in: event) }
    }

    /// The same of one object of `intensity`.
    public static func value(of item: Value, in event: Value) -> Double? {
        // (Gutenberg and Richter's relation has no velocity.)
        let isCertain = isVelocityValid(event) || item["relation"] == .string("gutenberg_richter")
        return (isCertain ? item["value"] : item["from_pga"])?.number
    }
}

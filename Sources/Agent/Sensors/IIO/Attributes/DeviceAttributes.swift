/// Attributes of an accelerometer, wherever its driver has put them: at the channel (`in_accel_scale`), or at the device
/// (`sampling_frequency`).
struct DeviceAttributes {
    let device: IIODevice
    /// Its x channel, which has what the three share.
    let channel: IIOChannel

    /// Where an attribute is.
    enum Place {
        case channel
        case device(String)
    }

    func place(of name: String) -> Place? {
        if channel.has(name) { return .channel }
        for candidate in [name, "in_accel_\(name)", "accel_\(name)", "in_\(name)"] where device.has(candidate) {
            return .device(candidate)
        }
        return nil
    }

    func read(_ name: String) -> String? {
        switch place(of: name) {
        case .channel: channel.read(name)
        case .device(let name): device.read(name)
        case nil: nil
        }
    }

    func number(_ name: String) -> Double? { read(name).flatMap(Self.number) }

    /// The first number of a text.
    static func number(_ text: String) -> Double? {
        guard let word = text.split(separator: " ").first, let value = Double(word), value.isFinite else { return nil }
        return value
    }

    func available(_ name: String) -> AvailableValues? { read("\(name)_available").flatMap { AvailableValues($0) } }

    /// Name of the file, for people.
    func file(_ name: String) -> String {
        let file =
            switch place(of: name) {
            case .channel: channel.file(name)
            case .device(let name): name
            case nil: name
            }
        return device.isLocal ? "\(device.folder)/\(file)" : "\(file) of \(device.id)"
    }

    /// Returns 0 or an error number.
    func write(_ name: String, _ value: Double) -> Int32 {
        let text = Self.text(value)
        switch place(of: name) {
        case .channel: return channel.write(name, text)
        case .device(let name): return device.write(name, text)
        case nil: return 0
        }
    }

    /// A decimal number as the kernel reads it: no exponent, at most nine decimals.
    static func text(_ value: Double) -> String {
        let bounded = min(max(value, -9e8), 9e8)
        let billionths = Int64((bounded * 1e9).rounded())
        let (whole, rest) = (abs(billionths) / 1_000_000_000, abs(billionths) % 1_000_000_000)
        var text = billionths < 0 ? "-\(whole)" : "\(whole)"
        guard rest > 0 else { return text }
        var digits = String(rest)
        digits = String(repeating: "0", count: 9 - digits.count) + digits
        while digits.hasSuffix("0") { digits.removeLast() }
        text += "."
        text += digits
        return text
    }
}

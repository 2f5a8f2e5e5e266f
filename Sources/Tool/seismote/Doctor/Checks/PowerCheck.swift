/// A supply that is too weak, as the Raspberry Pi measures it: below 4.63 V it slows down, sensors on its bus fail, and
/// memory cards lose what is being written (Raspberry Pi documentation, "Power supply warnings"; Linux,
/// drivers/hwmon/raspberrypi-hwmon.c).
enum PowerCheck: OwnCheck {
    static let name = "power supply"

    static func gather(_ settings: SettingsFacts) -> Known<PowerFacts> {
        let folder = "/sys/class/hwmon"
        let sensor = SmallFiles.names(in: folder).first { SmallFiles.text("\(folder)/\($0)/name") == "rpi_volt\n" }
        let alarm = sensor.flatMap { SmallFiles.number("\(folder)/\($0)/in0_lcrit_alarm") }
        let lines = SmallFiles.text("/dev/kmsg").map { $0.split(separator: "\n").count(where: isUndervoltage) }
        if alarm == nil, lines == nil {
            return .unknown("the machine does not measure its supply; the kernel's log may be read by root only")
        }
        return .known(PowerFacts(isLow: alarm.map { $0 != 0 }, lines: lines))
    }

    static func judge(_ power: PowerFacts) -> [Verdict] {
        let lines = power.lines ?? 0
        guard power.isLow == true || lines > 0 else {
            return [.fine(power.isLow == nil ? "the kernel reports no under-voltage" : "the voltage is high enough")]
        }
        let when = power.isLow == true ? "is too low now" : "was too low"
        let count = lines > 0 ? " (the kernel has reported it \(lines) time\(lines == 1 ? "" : "s"))" : ""
        return [
            .wrong(
                Diagnosis(
                    "undervoltage", .warning, "The voltage of the power supply \(when)\(count).",
                    remedy: "use the board's own power supply with a short cable, and a powered hub for USB devices"))
        ]
    }

    /// Whether a line of the kernel says so. Pure.
    static func isUndervoltage(_ line: some StringProtocol) -> Bool {
        let text = line.lowercased()
        return text.contains("undervoltage detected") || text.contains("under-voltage detected")
    }
}

/// Facts for the check of the power supply.
struct PowerFacts {
    /// Whether it is too low now; nil: nothing measures it.
    var isLow: Bool?
    /// How often the kernel's log says so; nil: it may not be read.
    var lines: Int?
}

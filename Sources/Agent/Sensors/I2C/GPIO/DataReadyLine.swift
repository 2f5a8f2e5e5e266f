import CLinux
import Glibc

/// A GPIO line that rises when the chip has samples; the kernel stamps the edge.
///
/// It goes through the kernel's own interface (linux/gpio.h, uAPI v2, since 5.10), not through libgpiod: versions 1 of
/// Debian 12 and 2 of Debian 13 have different functions, and one program is to run on both.
final class DataReadyLine {
    private var file: Int32 = -1
    /// Edges that came.
    private(set) var edges: UInt32 = 0

    /// - Parameter text: `gpiochip0:17`.
    init(_ text: String) throws(SensorError) {
        let parts = text.split(separator: ":")
        guard parts.count == 2, let line = UInt32(parts[1]), parts[0].hasPrefix("gpiochip") else {
            throw SensorError(.unsupported, "sensor.i2c.data_ready \(text): expected is a line such as gpiochip0:17")
        }
        let chip = open("/dev/" + parts[0], O_RDWR | O_CLOEXEC)
        guard chip >= 0 else { throw Self.error(text, errno) }
        file = clinux_gpio_rising(chip, line, "seismote")
        Glibc.close(chip)
        if file < 0 { throw Self.error(text, -file) }
    }

    deinit { if file >= 0 { Glibc.close(file) } }

    /// Waits for an edge; gives its time in ns of the monotonic clock, nil when none came in time.
    func wait(until deadline: Int64, now: Int64) throws(SensorError) -> Int64? {
        let milliseconds = max(0, min(60_000, (deadline - now + 999_999) / 1_000_000))
        var time: UInt64 = 0
        let code = clinux_gpio_wait(file, Int32(milliseconds), &time, &edges)
        if code < 0 { throw Self.error("data-ready line", -code) }
        return code == 1 ? Int64(clamping: time) : nil
    }

    private static func error(_ text: String, _ code: Int32) -> SensorError {
        let reason = String(cString: strerror(code))
        switch code {
        case EACCES, EPERM:
            return SensorError(.permission, "GPIO \(text): \(reason); sudo usermod -aG gpio $USER grants it")
        case ENOENT, ENODEV, ENXIO: return SensorError(.missing, "GPIO \(text): \(reason)")
        case EBUSY: return SensorError(.busy, "GPIO line \(text) is in use by another process")
        default: return SensorError(.fault, "GPIO \(text): \(reason)")
        }
    }
}

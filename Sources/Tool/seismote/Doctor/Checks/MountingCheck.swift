import Glibc
import Instruments
import Messages
import Settings

/// Gravity is along the station's z.
enum MountingCheck {
    static func judge(_ facts: Facts) -> [Verdict] {
        guard let gravity = facts.own?.gravity ?? facts.station.fact?.gravity ?? facts.sensor.fact?.gravity
        else {
            if facts.own != nil { return [.skipped("the agent has no samples yet")] }
            return [
                .skipped(
                    "no raw samples are known: the agent sends none that this account may read (trace.signals: raw), and has the sensor itself"
                )
            ]
        }
        return [judge(gravity, facts.settings.configuration.sensor.mounting)]
    }

    static func judge(_ gravity: [Double], _ mounting: MountingConfiguration) -> Verdict {
        let length = gravity.reduce(0) { $0 + $1 * $1 }.squareRoot()
        guard length > 5, let axis = (0..<3).max(by: { gravity[$0].magnitude < gravity[$1].magnitude }) else {
            return .skipped("the samples show no gravity (mean \(significant(length, 3)) m/s²)")
        }
        let tilt = acos(max(-1, min(1, gravity[2] / length))) / Double.pi * 180
        let seen = (gravity[axis] < 0 ? "-" : "+") + ["x", "y", "z"][axis]
        let values = gravity.map { fixed($0, 2) }.joined(separator: ", ")
        if axis != 2 || gravity[2] < 0 {
            let sources = MountingAdvice.sources(up: (axis, gravity[axis] < 0 ? -1 : 1), now: mounting)
            return .wrong(
                Diagnosis(
                    "wrong_mounting", "Gravity is along \(seen) of the station, not along +z (mean \(values) m/s²).",
                    remedy: "Turn the sensor, or set sensor.mounting: \(sources), and look at north with it"))
        }
        if tilt > 5, !mounting.level {
            return .wrong(
                Diagnosis(
                    "wrong_mounting", .warning, "The sensor is tilted by \(fixed(tilt, 1))° (mean \(values) m/s²).",
                    remedy: "Put it level to 5°, or set sensor.mounting.level: true"))
        }
        return .fine("gravity is along +z, tilt \(fixed(tilt, 1))°")
    }
}

/// Which sensor axes to take so that z points up.
enum MountingAdvice {
    /// - Parameters:
    ///   - up: the station's axis that gravity was found along, and its sign.
    ///   - now: the map that it was found with.
    /// - Returns: `{x: +y, y: +z, z: +x}`, always right-handed where the present one is.
    static func sources(up: (axis: Int, sign: Double), now: MountingConfiguration) -> String {
        typealias Source = MountingConfiguration.Source
        func turned(_ source: Source) -> Source { Source(axis: source.axis, sign: -source.sign) }
        let (x, y, z) = (now.sources.x, now.sources.y, now.sources.z)
        let new: (Source, Source, Source) =
            switch (up.axis, up.sign > 0) {
            case (0, true): (y, z, x)
            case (0, false): (z, y, turned(x))
            case (1, true): (z, x, y)
            case (1, false): (x, z, turned(y))
            case (_, true): (x, y, z)
            case (_, false): (x, turned(y), turned(z))
            }
        return "{x: \(text(new.0)), y: \(text(new.1)), z: \(text(new.2))}"
    }

    private static func text(_ source: MountingConfiguration.Source) -> String {
        (source.sign < 0 ? "-" : "+") + ["x", "y", "z"][max(0, min(2, source.axis))]
    }
}

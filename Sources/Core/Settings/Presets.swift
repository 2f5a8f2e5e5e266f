import Messages

extension Preset {
    static let seismology = Preset(
        name: "seismology",
        text: """
            # Seismology: earthquakes, near and regional, on a floor or a pier. These are also the built-in defaults.
            sensor:
              # 100 Hz shows everything up to 40 Hz, more than buildings and people feel.
              rate_hz: 100
              # The most sensitive range; only the strongest shaking ever recorded near a fault exceeds it.
              range: 2 g
            conditioning:
              # Gravity and slow drift go, surface waves of ten seconds stay.
              offset: {mode: highpass, corner_hz: 0.1, order: 2}
            axes:
              all:
                # The band in which local earthquakes stand out from steps, traffic and drift.
                filter: {butterworth: {type: bandpass, corners_hz: [0.5, 10], order: 2, start: zero}}
                # Above for 0.2 s without a break: a door that slams is shorter.
                detection: {window: 1 s, threshold: 5 mg, hold: 0.2 s}
            detection:
              # Where the ground is quiet, a tenth of that level stands out.
              sta_lta:
                method: frozen
                signal: v3
                filter: {butterworth: {type: bandpass, corners_hz: [1, 8], order: 2}}
                sta_s: 1
                lta_s: 30
                on: 3
                off: 1.5
              # Enough before the onset for the P wave, enough after it for the coda.
              event: {pre_event_s: 10, post_event_s: 15, max_event_s: 300, dead_time_s: 5}
            # The relation that ShakeMap uses, and the Japan Meteorological Agency's intensity of the last minute.
            intensity: {scales: [worden12, jma], horizontal: larger, window_s: 10, jma_window_s: 60}

            """)
}

extension Preset {
    static let shake = Preset(
        name: "shake",
        text: """
            # Shake: three axes with raw, filtered, RMS and trigger traces to look at, as in the app of that name.
            sensor:
              # The app's rate, for which its filters were drawn up.
              rate_hz: 60
              range: 2 g
            # The app takes nothing away by itself; its band filters take away gravity.
            conditioning: {offset: {mode: none}, settle_s: 1}
            axes:
              all:
                # Its band pass of 1 to 3 Hz, where walls and floors sway.
                filter: shake:bp1-3
                # In samples, as it counts.
                detection: {window: 60, threshold: 0.1 g, hold: 10}
            # Each axis triggers on its own, by its level alone.
            detection:
              sta_lta: {enabled: false}
              level: {axes: any}
              event: {pre_event_s: 5, post_event_s: 5, dead_time_s: 0}
            # Every sample of all four traces, in short blocks.
            trace: {rate_hz: 60, block_s: 0.5, signals: [raw, filtered, rms, triggered]}

            """)
}

extension Preset {
    static let itemblor = Preset(
        name: "itemblor",
        text: """
            # iTemblor: intensity of horizontal motion by Gutenberg and Richter, shown twenty times a second.
            sensor:
              rate_hz: 100
              range: 2 g
            # Gravity goes.
            conditioning: {offset: {mode: highpass, corner_hz: 0.1, order: 2}}
            axes:
              all:
                # The article calls it a high pass that removes higher frequencies; what it describes is this low pass.
                filter: {butterworth: {type: lowpass, corner_hz: 10, order: 2}}
                # Its scale begins at VI, 0.03 g by Gutenberg and Richter; the RMS of such motion is about half of that.
                detection: {window: 0.5 s, threshold: 15 mg, hold: 0.2 s}
            # Motion that people feel, not what stands out of the quiet.
            detection:
              sta_lta: {enabled: false}
            intensity:
              scales: [gutenberg_richter]
              # Motion in the plane, in any direction.
              horizontal: vector
              # Its window of 1024 points at 100 Hz.
              window_s: 10.24
            # Its display is drawn anew twenty times a second.
            trace: {rate_hz: 20, block_s: 0.5, signals: [raw, filtered]}

            """)
}

extension Preset {
    static let structure = Preset(
        name: "structure",
        text: """
            # Structure: buildings and bridges, which sway slowly and for long.
            sensor:
              rate_hz: 100
              range: 2 g
            # Tall buildings have periods of up to ten seconds: only what is slower goes.
            conditioning: {offset: {mode: highpass, corner_hz: 0.05, order: 2}}
            axes:
              all:
                # From the first mode of a tall building to the higher ones of a low one.
                filter: {butterworth: {type: bandpass, corners_hz: [0.1, 20], order: 2}}
                # Long enough for a few slow cycles.
                detection: {window: 4 s, threshold: 2 mg, hold: 1 s}
            detection:
              # Wind and people sway a building too: its level decides.
              sta_lta: {enabled: false}
              # The whole response, from rest to rest.
              event: {pre_event_s: 30, post_event_s: 60, max_event_s: 600}
            # A structure moves in one direction of its own, not along our axes.
            intensity: {scales: [worden12], horizontal: vector, window_s: 30}
            # Slow motion needs few samples.
            trace: {rate_hz: 20, block_s: 2, signals: [filtered, rms]}

            """)
}

extension Preset {
    static let machine = Preset(
        name: "machine",
        text: """
            # Machine: vibration of pumps, fans, motors; an alarm when the level stays high.
            sensor:
              # Up to some 300 Hz: five times the speed of a two-pole motor.
              rate_hz: 800
              range: 8 g
            # The velocity that ISO 20816-3 judges: what it has up to 300 Hz, against the boundary of zone B to C.
            vibration:
              enabled: true
              band: own
              lower_hz: 10
              upper_hz: 300
              limit: iso20816-3:group2-rigid:bc
            # Nothing below a few hertz belongs to a machine.
            conditioning: {offset: {mode: highpass, corner_hz: 2, order: 2}}
            axes:
              all:
                # Ten hertz is where ISO 20816-1 begins for most machines.
                filter: {butterworth: {type: bandpass, corners_hz: [10, 300], order: 4}}
                # A level, not a jolt: it must last five seconds.
                detection: {window: 1 s, threshold: 0.2 g, hold: 5 s}
            detection:
              # A machine that starts is no event.
              sta_lta: {enabled: false}
              # A few seconds say all about a machine that runs.
              event: {pre_event_s: 2, post_event_s: 10, max_event_s: 30, dead_time_s: 60}
            # The level over time is enough.
            trace: {rate_hz: 5, block_s: 5, signals: [rms, triggered]}
            # More samples a second, so shorter messages.
            waveform: {chunk_s: 2}

            """)
}

extension Preset {
    static let construction = Preset(
        name: "construction",
        text: """
            # Construction site: can piles, rollers and blasts damage the house? One message a minute, with its share of the limit.
            sensor:
              # The band of DIN 45669-1, 1 to 80 Hz, needs 200 samples a second.
              rate_hz: 200
              # A pile driver is a fraction of a g at a foundation; a small range has the least noise.
              range: 2 g
            vibration:
              enabled: true
              band: din
              # Where the sensor stands: at the foundation of a dwelling, on the side of the site.
              limit: din4150-3:dwellings:foundation
            detection:
              # The site is no earthquake: no events for every lorry.
              sta_lta: {enabled: false}
              # Above 5 cm/s^2 the waveform is of interest.
              peak: {enabled: true, threshold: 0.05 m/s^2}
              event: {pre_event_s: 2, post_event_s: 3, max_event_s: 60}
            # Nobody is to be alarmed by a roller.
            classification: {enabled: false}
            onsite: {enabled: false}
            # Enough to see what is going on.
            trace: {rate_hz: 50, block_s: 2, signals: [raw, rms]}

            """)
}

extension Preset {
    static let buildingComfort = Preset(
        name: "building-comfort",
        text: """
            # Building comfort: does vibration disturb people? Vibration dose of day and night, beside KB.
            sensor:
              # People feel 0.5 to 80 Hz: the band of DIN 45669-1 needs 200 samples a second.
              rate_hz: 200
              # What people complain of is some mg.
              range: 2 g
            vibration:
              enabled: true
              band: din
              # Wd and Wb, as BS 6472-1 wants them.
              weighting: bs6472-1
              # From this dose of a day (half of it by night) on complaints are possible.
              limit: bs6472-1:dwellings:possible
            detection:
              # Trains and lorries are no earthquakes.
              sta_lta: {enabled: false}
              # What everybody feels: 20 mg on the middle of a floor.
              peak: {enabled: true, threshold: 20 mg}
              event: {pre_event_s: 5, post_event_s: 10, max_event_s: 120}
            classification: {enabled: false}
            onsite: {enabled: false}
            # Little is needed beside the message of each minute.
            trace: {rate_hz: 20, block_s: 5, signals: [rms]}

            """)
}

extension Preset {
    static let classroom = Preset(
        name: "classroom",
        text: """
            # Classroom: jump, knock, and see it at once.
            sensor:
              rate_hz: 100
              range: 2 g
            # Ready after a second.
            conditioning: {offset: {mode: ema, corner_hz: 0.1}, settle_s: 1}
            axes:
              all:
                # Steps and knocks, without the buzz of the table.
                filter: {butterworth: {type: bandpass, corners_hz: [0.5, 20], order: 2}}
                # A jump beside the sensor triggers, a chair at the other end does not.
                detection: {window: 0.5 s, threshold: 10 mg, hold: 0.1 s}
            detection:
              # Only what the class can feel.
              sta_lta: {enabled: false}
              # Short events, soon ready for the next pupil.
              event: {pre_event_s: 2, post_event_s: 3, max_event_s: 30, dead_time_s: 0}
            # An old relation and a new one, to compare.
            intensity: {scales: [gutenberg_richter, worden12], horizontal: larger, window_s: 5}
            # Smooth and soon on the screen.
            trace: {rate_hz: 25, block_s: 0.2, signals: [raw, filtered, rms, triggered]}

            """)
}

extension Preset {
    static let quietVault = Preset(
        name: "quiet-vault",
        text: """
            # Quiet vault: a good sensor in a cellar or bore hole where nobody walks; small and distant earthquakes.
            sensor:
              rate_hz: 100
              range: 2 g
            # Long waves of distant earthquakes stay.
            conditioning: {offset: {mode: highpass, corner_hz: 0.05, order: 2}}
            axes:
              all:
                # Below 1 Hz the sensor's own noise is larger than small earthquakes, above 8 Hz they have faded on the way.
                filter: {butterworth: {type: bandpass, corners_hz: [1, 8], order: 4}}
                # Little more than the noise of a good MEMS sensor in this band, so it must last.
                detection: {window: 2 s, threshold: 0.2 mg, hold: 1 s}
            detection:
              # Noise is on one axis, a wave on two.
              level: {axes: two}
              # The P wave of a distant earthquake is long before its largest waves.
              event: {pre_event_s: 60, post_event_s: 60, max_event_s: 900, dead_time_s: 0}

            """)
}

/// A settings file that comes with the program, for one kind of use.
///
/// Presets are part of the program, so that a single file copied to a board has them; `config/presets` holds the same
/// texts for reading and for copying, and a test holds both together.
public struct Preset: Sendable, Equatable {
    public let name: String
    /// YAML.
    public let text: String

    /// All of them; the first is what is built in.
    public static let all = [
        seismology, shake, itemblor, structure, machine, construction, buildingComfort, classroom, quietVault,
    ]

    /// The bytes of a preset by its name, or of a file by its path (with a `/` in it or ending in `.yaml`).
    ///
    /// - Throws: an error that lists the names there are, or says why the file cannot be read.
    static func bytes(_ nameOrPath: String) throws(CodedError) -> [UInt8] {
        if nameOrPath.contains("/") || nameOrPath.hasSuffix(".yaml") { return try SettingsFile.read(nameOrPath) }
        if let preset = all.first(where: { $0.name == nameOrPath }) { return Array(preset.text.utf8) }
        let names = all.map(\.name)
        throw CodedError(
            "", .unavailable, "There is no preset `\(nameOrPath.prefix(80))`.",
            allowed: names.joined(separator: ", ") + ", or the path of a file",
            nearest: Spelling.nearest(to: nameOrPath, in: names))
    }
}

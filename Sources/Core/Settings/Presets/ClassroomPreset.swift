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

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

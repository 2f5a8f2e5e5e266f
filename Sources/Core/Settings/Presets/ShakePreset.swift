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

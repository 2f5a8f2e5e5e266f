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

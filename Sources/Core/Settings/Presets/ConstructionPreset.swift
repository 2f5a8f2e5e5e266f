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

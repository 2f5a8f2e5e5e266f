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

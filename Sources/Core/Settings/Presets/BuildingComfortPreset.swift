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

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

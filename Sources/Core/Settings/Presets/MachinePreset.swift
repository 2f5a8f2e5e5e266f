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

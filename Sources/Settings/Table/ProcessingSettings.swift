import Messages

extension SettingsTable {
    static let conditioning = Chapter(
        key: "conditioning", title: "Conditioning", help: "What is done to all axes before their filters.",
        settings: [
            Setting(
                "conditioning.offset", \.conditioning.offset, .offset,
                written: "{mode: highpass, corner_hz: 0.1, order: 2}", apply: .live,
                title: "Offset removal", advanced: true,
                "How gravity and the sensor's offset are taken away."),
            Setting(
                "conditioning.settle_s", \.conditioning.settle,
                .optional(.time(.from(0, to: 3600)), none: "1 s or what the filters need, whichever is longer"),
                apply: .live,
                title: "Settling time", advanced: true,
                "No detection for this long after a start, a gap or a change of these settings."),
        ])

    static let axes = Chapter(
        key: "axes", title: "Axes",
        help: "What is done to each axis: `all` is written to x, y and z; after it, x, y and z may differ.",
        sections: ["detection": "Level detection"],
        settings: [
            Setting(
                axis: "signal", \.signal, .signal, apply: .live,
                title: "Signal", advanced: true,
                "The sensor, or a test signal in its place (step and impulse come after 20 samples of zero)."),
            Setting(
                axis: "filter", \.filter, .filter,
                written: "{butterworth: {type: bandpass, corners_hz: [0.5, 10], order: 2, start: zero}}",
                apply: .live,
                title: "Filter", homeAssistant: homeAssistantFilter,
                "Filter before the RMS. A band filter has corners_hz and twice as many poles as its order says."),
            Setting(
                axis: "detection.window", \.detection.window, .window, apply: .live,
                title: "RMS window",
                "Length of the RMS; text with a unit is a time, a bare number is samples."),
            Setting(
                axis: "detection.threshold", \.detection.threshold, .threshold, written: "5 mg", apply: .live,
                title: "Threshold",
                homeAssistant: .number(
                    "threshold_$", "Threshold $", #""unit_of_measurement":"m/s²","min":0,"max":2000,"step":0.001"#),
                "The axis is above when its RMS is greater than this."),
            Setting(
                axis: "detection.hold", \.detection.hold, .window, apply: .live,
                title: "Hold time", advanced: true,
                "How long the axis must be above without a break until it triggers."),
        ])

    static let detection = Chapter(
        key: "detection", title: "Detection",
        help: "When the station as a whole triggers, and how triggers become events.",
        sections: [
            "level": "Level", "sta_lta": "STA/LTA", "sta_lta.guard": "Trigger guard", "peak": "Peak",
            "movement": "Movement", "event": "Events",
        ],
        settings: [
            Setting(
                "detection.level.enabled", \.detection.level.enabled, .bool, apply: .live,
                title: "Level detector",
                "Detection by the level of each axis (see axes.all.detection)."),
            Setting(
                "detection.level.axes", \.detection.level.axes, .choice(), apply: .live,
                title: "Axes that must trigger", advanced: true,
                "Which axes must be triggered: one axis, any, two of the three, or all."),
            Setting(
                "detection.sta_lta.enabled", \.detection.staLTA.enabled, .bool, apply: .live,
                title: "STA/LTA detector",
                "Detection by the ratio of a short-term to a long-term average of power."),
            Setting(
                "detection.sta_lta.method", \.detection.staLTA.method, .choice(), apply: .live,
                title: "STA/LTA method", advanced: true,
                "Moving averages, exponential averages, or those with the long one frozen while triggered."),
            Setting(
                "detection.sta_lta.signal", \.detection.staLTA.signal, .choice(), apply: .live,
                title: "STA/LTA signal", advanced: true,
                "Each axis for itself, one axis, the horizontal vector or the 3-D vector."),
            Setting(
                "detection.sta_lta.filter", \.detection.staLTA.filter, .ownFilter,
                written: "{butterworth: {type: bandpass, corners_hz: [1, 8], order: 2}}", apply: .live,
                title: "STA/LTA filter", advanced: true,
                "A filter of its own after the offset removal, or `axes`: after the filters of the axes."),
            Setting(
                "detection.sta_lta.sta_s", \.detection.staLTA.sta, .time(.above(0, to: 60)), apply: .live,
                title: "STA length",
                "Length of the short-term average."),
            Setting(
                "detection.sta_lta.lta_s", \.detection.staLTA.lta, .time(.above(0, to: 600)), apply: .live,
                title: "LTA length",
                "Length of the long-term average; there is no detection for this long after a start or a gap."),
            Setting(
                "detection.sta_lta.on", \.detection.staLTA.on, .number(.above(0, to: 10000)), apply: .live,
                title: "Trigger-on ratio",
                homeAssistant: .number("sta_lta_on", "STA/LTA on", #""min":0.01,"max":10000,"step":0.01"#),
                "Triggers when the ratio is at least this."),
            Setting(
                "detection.sta_lta.off", \.detection.staLTA.off, .number(.above(0, to: 10000)), apply: .live,
                title: "Trigger-off ratio",
                homeAssistant: .number("sta_lta_off", "STA/LTA off", #""min":0.01,"max":10000,"step":0.01"#),
                "The trigger ends when the ratio is less than this."),
            Setting(
                "detection.sta_lta.min_duration_s", \.detection.staLTA.minimumDuration, .time(.from(0, to: 60)),
                apply: .live,
                title: "Minimum duration", advanced: true,
                "The detector is on when the trigger has lasted this long without a break."),
            Setting(
                "detection.sta_lta.max_frozen_s", \.detection.staLTA.maximumFrozen, .time(.above(0, to: 3600)),
                apply: .live,
                title: "Maximum freeze", advanced: true,
                "Method frozen: after this long in a trigger the long-term average goes on."),
            Setting(
                "detection.sta_lta.guard.enabled", \.detection.staLTA.guard.enabled, .bool, apply: .live,
                title: "Trigger guard", advanced: true,
                "Signals h and v3: the trigger counts when it also looks like shaking, not like a spike or a step."),
            Setting(
                "detection.sta_lta.guard.axes", \.detection.staLTA.guard.axes, .integer(1...3), apply: .live,
                title: "Axes that must agree", advanced: true,
                "How many axes must agree that there is more power than before."),
            Setting(
                "detection.sta_lta.guard.ratio", \.detection.staLTA.guard.ratio, .number(.from(0, to: 10000)),
                apply: .live,
                title: "Ratio of an agreeing axis", advanced: true,
                "An axis agrees when its short-term average is at least so many long-term ones."),
            Setting(
                "detection.sta_lta.guard.clip", \.detection.staLTA.guard.clip, .number(.above(0, to: 1e9)),
                apply: .live,
                title: "Clip level", advanced: true,
                "In that, one sample counts for at most so many long-term averages."),
            Setting(
                "detection.sta_lta.guard.jump", \.detection.staLTA.guard.jump, .number(.above(0, to: 1)),
                apply: .live,
                title: "Largest jump", advanced: true,
                "The largest jump between successive 1/32 s may be this share of all change at most."),
            Setting(
                "detection.peak.enabled", \.detection.peak.enabled, .bool, apply: .live,
                title: "Peak detector",
                "Detection by a single sample of the acceleration (offset removed, not filtered)."),
            Setting(
                "detection.peak.threshold", \.detection.peak.threshold, .threshold, written: "5 mg", apply: .live,
                title: "Peak threshold", advanced: true,
                "On while the acceleration is greater than this."),
            Setting(
                "detection.peak.signal", \.detection.peak.signal, .choice(), apply: .live,
                title: "Peak signal", advanced: true,
                "Each axis for itself, one axis, the horizontal vector or the 3-D vector."),
            Setting(
                "detection.movement.enabled", \.detection.movement.enabled, .bool, apply: .live,
                title: "Movement detector", advanced: true,
                "Detection of a movement of the sensor itself, with its direction (offset removed, not filtered)."),
            Setting(
                "detection.movement.threshold", \.detection.movement.threshold, .threshold, written: "0.3 g",
                apply: .live,
                title: "Movement threshold", advanced: true,
                "A movement begins when the acceleration of any axis is greater than this."),
            Setting(
                "detection.movement.lull_s", \.detection.movement.lull, .time(.above(0, to: 60)), apply: .live,
                title: "Movement lull", advanced: true,
                "A movement ends when no axis has been above the threshold for this long."),
            Setting(
                "detection.event.votes", \.detection.event.votes, .integer(1...16), apply: .live,
                title: "Detectors for an event", advanced: true,
                "How many detectors must be on for an event."),
            Setting(
                "detection.event.pre_event_s", \.detection.event.preEvent, .time(.from(0, to: 120)), apply: .live,
                title: "Pre-event time",
                "How much from before the onset belongs to an event."),
            Setting(
                "detection.event.post_event_s", \.detection.event.postEvent, .time(.from(0, to: 600)), apply: .live,
                title: "Post-event time",
                "An event ends when all detectors have been off for this long."),
            Setting(
                "detection.event.max_event_s", \.detection.event.maximum, .time(.from(1, to: 3600)), apply: .live,
                title: "Maximum event length", advanced: true,
                "A longer event is closed, and the rest becomes another one."),
            Setting(
                "detection.event.dead_time_s", \.detection.event.deadTime, .time(.from(0, to: 3600)), apply: .live,
                title: "Dead time", advanced: true,
                "No new event for this long after the end of one."),
            Setting(
                "detection.event.min_intensity", \.detection.event.minimumIntensity, .number(.from(0, to: 12)),
                apply: .live,
                title: "Minimum intensity", "Events below this intensity on the first of the scales are not published."),
        ])

    static let intensity = Chapter(
        key: "intensity", title: "Intensity", help: "Seismic intensity from ground motion.",
        settings: [
            Setting(
                "intensity.scales", \.intensity.scales, .choices(), apply: .live,
                title: "Intensity relations",
                "Which relations are computed, in this order."),
            Setting(
                "intensity.horizontal", \.intensity.horizontal, .choice(), apply: .live,
                title: "Horizontal component", advanced: true,
                "How the two horizontal axes become one number."),
            Setting(
                "intensity.window_s", \.intensity.window, .time(.from(1, to: 300)), apply: .live,
                title: "Peak window", advanced: true,
                "The summary's peaks and intensity are those of the last so many seconds."),
            Setting(
                "intensity.jma_window_s", \.intensity.jmaWindow, .time(.from(10, to: 300)), apply: .live,
                title: "JMA window", advanced: true,
                "The intensity by jma is computed each second from the last so many seconds."),
        ])

    static let spectrum = Chapter(
        key: "spectrum", title: "Spectrum", help: "The strongest frequency of the motion.",
        settings: [
            Setting(
                "spectrum.window_s", \.spectrum.window, .time(.from(3, to: 300)), apply: .live,
                title: "Spectrum window", advanced: true,
                "The summary's spectrum is that of the last so many seconds."),
            Setting(
                "spectrum.min_hz", \.spectrum.lowest, .frequency(.above(0, to: 1000)), apply: .live,
                title: "Lowest frequency", advanced: true,
                "Lower frequencies do not count, nor those above 0.4 of the sample rate."),
        ])
}

extension Codec where T == Double {
    fileprivate static let threshold = acceleration(.from(0, to: 2000))
}

extension SettingsTable {
    /// The filters that most people want; others are shown as `other`, which changes nothing.
    fileprivate static let homeAssistantFilter = HomeAssistantEntity.Control.select(
        "filter", "Filter",
        patch: """
            {} if value=='other' else {'axes':dict.fromkeys('xyz',{'filter':'none' if value=='unfiltered' else value \
            if ':' in value else {'butterworth':{'type':'bandpass','corners_hz':value.split(' ')[0].split('-')|\
            map('float')|list,'order':2}}})}
            """,
        value: """
            {% set a=value_json.config.axes %}{% set f=a.x.filter %}\
            {% set b=f.get('butterworth',{}) if f is mapping else {} %}\
            {% set n='unfiltered' if f=='none' else f if f is string else b.corners_hz|join('-')+' Hz' \
            if b.get('type')=='bandpass' and b.order==2 and b.start=='zero' else '' %}\
            {{ n if n in ['unfiltered',@] and f==a.y.filter and f==a.z.filter else 'other' }}
            """,
        options: #""unfiltered",@,"other""#)
}

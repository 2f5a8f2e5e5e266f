import Messages
import Seismology
import SignalProcessing

extension SettingsTable {
    static let conditioning = Chapter(
        key: "conditioning", title: "Conditioning", help: "What is done to all axes before their filters.",
        owners: .sampling,
        settings: [
            StationSetting(
                "conditioning.offset", \.conditioning.offset, .offset,
                written: "{mode: highpass, corner_hz: 0.1, order: 2}", apply: .live,
                title: "Offset removal", advanced: true,
                "How gravity and the sensor's offset are removed."),
            StationSetting(
                "conditioning.settle_s", \.conditioning.settle,
                .optional(.time(.from(0, to: 3600)), none: "1 s or what the filters need, whichever is longer"),
                apply: .live,
                title: "Settling time", advanced: true,
                "No detection for this long after a start, a gap or a change of these settings."),
        ])

    static let axes = Chapter(
        key: "axes", title: "Axes",
        help: "What is done to each axis: `all` is written to x, y and z; after it, x, y and z may differ.",
        owners: .sampling,
        sections: [("detection", "Level detection")],
        settings: [
            StationSetting(
                axis: "signal", \.signal, .signal, apply: .live,
                title: "Signal", advanced: true,
                "The sensor, or a test signal in its place (step and impulse come after 20 samples of zero)."),
            StationSetting(
                axis: "filter", \.filter, .filter,
                written: "{butterworth: {type: bandpass, corners_hz: [0.5, 10], order: 2, start: zero}}",
                apply: .live,
                title: "Filter", homeAssistant: homeAssistantFilter,
                "Filter before the RMS. A band filter has corners_hz and twice as many poles as its order says."),
            StationSetting(
                axis: "detection.window", \.detection.window, .window, apply: .live,
                title: "RMS window",
                "Length of the RMS; text with a unit is a time, a bare number is samples."),
            StationSetting(
                axis: "detection.threshold", \.detection.threshold, .threshold, written: "5 mg", apply: .live,
                title: "Threshold",
                homeAssistant: .number(
                    "threshold_$", "Threshold $", #""unit_of_measurement":"m/s²","min":0,"max":2000,"step":0.001"#),
                "The axis is above when its RMS is greater than this."),
            StationSetting(
                axis: "detection.hold", \.detection.hold, .window, apply: .live,
                title: "Hold time", advanced: true,
                "How long the axis must be above without a break until it triggers."),
        ])

    static let detection = Chapter(
        key: "detection", title: "Detection",
        help: "When the station as a whole triggers, and how triggers become events.", owners: .sampling,
        sections: detectorSections + [("event", "Events")],
        settings: detectorRows + [
            StationSetting(
                "detection.event.votes", \.detection.event.votes, .integer(1...16), apply: .live,
                title: "Detectors for an event", advanced: true,
                "How many detectors must be on for an event."),
            StationSetting(
                "detection.event.pre_event_s", \.detection.event.preEvent, .time(.from(0, to: 120)), apply: .live,
                title: "Pre-event time",
                "How much from before the onset belongs to an event."
            ).owned(by: .sampling, .storage),
            StationSetting(
                "detection.event.post_event_s", \.detection.event.postEvent, .time(.from(0, to: 600)), apply: .live,
                title: "Post-event time",
                "An event ends when all detectors have been off for this long."),
            StationSetting(
                "detection.event.max_event_s", \.detection.event.maximum, .time(.from(1, to: 3600)), apply: .live,
                title: "Maximum event length", advanced: true,
                "A longer event is closed, and the rest becomes another one."),
            StationSetting(
                "detection.event.dead_time_s", \.detection.event.deadTime, .time(.from(0, to: 3600)), apply: .live,
                title: "Dead time", advanced: true,
                "No new event for this long after the end of one."),
            StationSetting(
                "detection.event.min_intensity", \.detection.event.minimumIntensity, .number(.from(0, to: 12)),
                apply: .live,
                title: "Minimum intensity", "Events below this intensity on the first of the scales are not published."),
            StationSetting(
                "detection.event.confirmation", \.detection.event.confirmation, .bool, apply: .live,
                title: "Confirmation by neighbours",
                "A network of stations may mark events as confirmed, with the command `confirm-event`."
            ).owned(by: .commands),
        ])

    static let intensity = Chapter(
        key: "intensity", title: "Intensity", help: "Seismic intensity from ground motion.", owners: .sampling,
        settings: [
            StationSetting(
                "intensity.scales", \.intensity.scales, .choices(), apply: .live,
                title: "Intensity relations",
                "Which relations are computed, in this order."),
            StationSetting(
                "intensity.horizontal", \.intensity.horizontal, .choice(), apply: .live,
                title: "Horizontal component", advanced: true,
                "How the two horizontal axes become one number."),
            StationSetting(
                "intensity.window_s", \.intensity.window, .time(.from(1, to: 300)), apply: .live,
                title: "Peak window", advanced: true,
                "The summary's peaks and intensity are those of the last so many seconds."),
            StationSetting(
                "intensity.jma_window_s", \.intensity.jmaWindow, .time(.from(10, to: 300)), apply: .live,
                title: "JMA window", advanced: true,
                "The intensity by jma is computed each second from the last so many seconds."),
        ])

    static let spectrum = Chapter(
        key: "spectrum", title: "Spectrum", help: "The strongest frequency of the motion.", owners: .sampling,
        settings: [
            StationSetting(
                "spectrum.window_s", \.spectrum.window, .time(.from(3, to: 300)), apply: .live,
                title: "Spectrum window", advanced: true,
                "The summary's spectrum is that of the last so many seconds."),
            StationSetting(
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
            {} if value=='other' else {'axes':dict.fromkeys('xyz',{'filter':'none' if value=='unfiltered' else \
            'shake:'+(value[6:-3]|replace('low-pass ','lp')|replace('high-pass ','hp')|replace('band-pass ','bp')) \
            if value[:5]=='Shake' else {'butterworth':{'type':'bandpass','corners_hz':value.split(' ')[0].split('-')|\
            map('float')|list,'order':2}}})}
            """,
        value: """
            {% set a=value_json.config.axes %}{% set f=a.x.filter %}\
            {% set b=f.get('butterworth',{}) if f is mapping else {} %}\
            {% set n='unfiltered' if f=='none' else \
            'Shake '+(f[6:]|replace('lp','low-pass ')|replace('hp','high-pass ')|replace('bp','band-pass '))+' Hz' \
            if f is string else b.corners_hz|join('-')+' Hz' \
            if b.get('type')=='bandpass' and b.order==2 and b.start=='zero' else '' %}\
            {{ n if n in ['unfiltered',@] and f==a.y.filter and f==a.z.filter else 'other' }}
            """,
        options: #""unfiltered",@,"other""#)
}

public struct ConditioningConfiguration: Sendable, Equatable {
    public var offset = OffsetSpecification.highpass(corner: 0.1, order: 2)
    /// Seconds without detection after a start or a gap; nil: 1 s or what the filters need, whichever is longer.
    public var settle: Double?
}

public struct AxisConfiguration: Sendable, Equatable {
    public enum Signal: Sendable, Equatable {
        case sensor
        /// Amplitude in m/s², frequency in Hz below Nyquist.
        case sine(amplitude: Double, frequency: Double)
        case step(amplitude: Double)
        case impulse(amplitude: Double)
    }
    public var signal = Signal.sensor
    public var filter = FilterSpecification.butterworth(
        .init(band: .bandpass, corners: [0.5, 10], order: 2, start: .zero))
    public var detection = LevelConfiguration()
}

/// RMS and level detection of one axis by Shake's rule.
public struct LevelConfiguration: Sendable, Equatable {
    public var window = WindowLength.seconds(1)
    /// m/s².
    public var threshold = 5e-3 * standardGravity
    public var hold = WindowLength.seconds(0.2)
}

public struct IntensityConfiguration: Sendable, Equatable {
    public var scales: [IntensityRelation] = [.worden12, .jma]
    public var horizontal = HorizontalDefinition.larger
    /// Seconds over which the summary's peaks are taken.
    public var window = 10.0
    /// Seconds of the window that the sliding JMA intensity is computed from.
    public var jmaWindow = 60.0
}

public struct SpectrumConfiguration: Sendable, Equatable {
    /// Samples of a window at most, of this one and of the JMA intensity's.
    public static let longestWindow = 300_000
    /// Seconds of the window that the summary's spectrum is computed from.
    public var window = 20.0
    /// Hz; nothing below it counts.
    public var lowest = 0.1
}

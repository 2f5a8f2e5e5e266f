/// When the station as a whole triggers, and how triggers become events. The settings of each detector are in its file.
public struct DetectionConfiguration: Sendable, Equatable {
    public var level = Level()
    public var staLTA = STALTA()
    public var peak = Peak()
    public var movement = Movement()
    public var energy = Energy()
    public var event = Event()

    public init() {}
}

/// The detectors that are enabled. This is the closed list of all: each has its settings above, its place here and its
/// turn below, in the same order, which is that of the settings file and of the messages.
public struct DetectorBank: Sendable {
    var level: AxesDetector?
    var staLTA: RatioDetector?
    var peak: PeakDetector?
    var movement: MovementDetector?
    var energy: EnergyDetector?

    @inline(__always)
    mutating func visit(_ visitor: inout some DetectorVisitor) {
        visitor.visit(&level, \.level, \.level)
        visitor.visit(&staLTA, \.staLTA, \.staLTA)
        visitor.visit(&peak, \.peak, \.peak)
        visitor.visit(&movement, \.movement, \.movement)
        visitor.visit(&energy, \.energy, \.energy)
    }
}

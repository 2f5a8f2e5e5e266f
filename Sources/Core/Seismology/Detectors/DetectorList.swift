/// All detectors, one line each, in the order of the settings file and of the messages. A closed list, which the compiler
/// makes its code from: nothing is looked up, boxed or allocated while samples run.
typealias DetectorList = NoDetectors
    .Then<AxesDetector>
    .Then<RatioDetector>
    .Then<PeakDetector>
    .Then<MovementDetector>
    .Then<EnergyDetector>

/// When the station as a whole triggers, and how triggers become events. The settings of each detector are in its file.
public struct DetectionConfiguration: Sendable, Equatable {
    /// Settings of each detector of the list.
    var detectors = DetectorList.Settings()
    public var event = Event()

    public init() {}
}

/// Facts about an enabled detector for others.
public struct DetectorFacts: Sendable, Equatable {
    /// Its place in the list.
    public var number: Int
    public var name: String
    /// Nil where there is no choice.
    public var signal: DetectorSignal?
    public var isRatio: Bool
}

extension DetectionConfiguration {
    /// All detectors, in the order of the list.
    public static let names: [String] = {
        var (settings, visitor) = (DetectionConfiguration(), Naming())
        settings.visit(&visitor)
        return visitor.names
    }()

    /// Visits the settings of all detectors, in the order of the list.
    public mutating func visit(_ visitor: inout some DetectorSettingsVisitor) { detectors.visit(&visitor) }

    /// Settings of one detector.
    public subscript<S: DetectorSettings>(_: S.Type) -> S {
        get {
            var (copy, visitor) = (self, Finding<S>(found: S()))
            copy.visit(&visitor)
            return visitor.found
        }
        set {
            var visitor = Replacing(new: newValue)
            visit(&visitor)
        }
    }

    /// Facts of the detectors that are enabled.
    public var enabled: [DetectorFacts] {
        var (copy, visitor) = (self, Listing())
        copy.visit(&visitor)
        return visitor.facts
    }

    /// Switches all detectors off.
    public mutating func disableAll() {
        var visitor = Disabling()
        visit(&visitor)
    }
}

private struct Naming: DetectorSettingsVisitor {
    var names: [String] = []

    mutating func visit<S: DetectorSettings>(_: inout S) { names.append(S.name) }
}

// Embedded Swift has no dynamic casts: two types of settings are the same when their names are.

private struct Finding<Wanted: DetectorSettings>: DetectorSettingsVisitor {
    var found: Wanted

    mutating func visit<S: DetectorSettings>(_ settings: inout S) {
        guard S.name == Wanted.name else { return }
        withUnsafePointer(to: settings) { found = UnsafeRawPointer($0).assumingMemoryBound(to: Wanted.self).pointee }
    }
}

private struct Replacing<New: DetectorSettings>: DetectorSettingsVisitor {
    let new: New

    mutating func visit<S: DetectorSettings>(_ settings: inout S) {
        guard S.name == New.name else { return }
        withUnsafePointer(to: new) { settings = UnsafeRawPointer($0).assumingMemoryBound(to: S.self).pointee }
    }
}

private struct Listing: DetectorSettingsVisitor {
    var facts: [DetectorFacts] = []
    var number = 0

    mutating func visit<S: DetectorSettings>(_ settings: inout S) {
        if settings.enabled {
            facts.append(
                .init(number: number, name: S.name, signal: settings.chosenSignal, isRatio: S.isRatio))
        }
        number += 1
    }
}

private struct Disabling: DetectorSettingsVisitor {
    mutating func visit<S: DetectorSettings>(_ settings: inout S) { settings.enabled = false }
}

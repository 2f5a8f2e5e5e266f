import Commands
import Settings

/// Work that the main thread orders from the sampling thread. Each has a number and is answered by an ``OrderOutcome``
/// of that number, always.
enum SamplingWork: Sendable {
    case command(SamplingOrder)
    case settings(SettingsStep)
}

/// A step of a change of the settings, for the thread that samples.
enum SettingsStep: Sendable {
    /// Finds out whether other settings can come into force, and has no effect but one: with `reopens` the sensor is closed
    /// and opened anew with them, since only that shows what it can do. No samples come then until `commit` or `abandon`;
    /// the gap is declared. A sensor that is not found is no obstacle: it may still come.
    indirect case prepare(Configuration, revision: Int, reopens: Bool)
    /// Settings come into force at the next border of a block: these or, with nil, what was prepared last. Cannot fail.
    indirect case commit(PreparedSettings?)
    /// Drops the settings that were prepared last; a sensor that was opened for them is opened as before.
    case abandon

    /// It is taken however many orders wait.
    var endsAChange: Bool {
        if case .prepare = self { false } else { true }
    }
}

/// A part of the agent that settings belong to. A change is first proposed to the owners of what it changes, and made when
/// all of them can do it. In the order in which they put it into force.
public enum SettingOwner: String, Sendable, CaseIterable {
    /// The lines that the agent writes to its log.
    case log
    /// The thread with the sensor, the pipeline and the traces.
    case sampling
    /// The thread for the disk.
    case storage
    /// The connection to the broker.
    case link
    /// What becomes of incoming commands.
    case commands
    /// What the agent publishes of itself.
    case reporter
}

extension Setting {
    /// This row with owners of its own: the first decides, the others have to know as well.
    func owned(by owners: SettingOwner...) -> Setting {
        var row = self
        row.owners = owners
        return row
    }
}

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
    /// Handling of incoming commands.
    case commands
    /// Messages of the agent about itself.
    case reporter

    /// Whom a change of these rows concerns: the owners of those that take effect now, and in any case those whose messages
    /// carry the number of the revision.
    public static func asked(for rows: [StationSetting]) -> [SettingOwner] {
        if rows.isEmpty { return [] }
        let concerned = rows.filter { $0.apply != .restart }.flatMap(\.owners) + [.sampling, .reporter]
        return allCases.filter(concerned.contains)
    }
}

extension Setting {
    /// This row with owners of its own: the first decides, the others have to know as well.
    func owned(by owners: SettingOwner...) -> Self {
        var row = self
        row.owners = owners
        return row
    }
}

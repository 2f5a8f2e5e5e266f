/// Which settings differ between two snapshots, by when a change takes effect.
struct SettingsDifference {
    /// Keys such as `axes.x.filter`, in the table's order.
    private(set) var changed: [String] = []
    private(set) var live: [String] = []
    private(set) var restartStream: [String] = []
    private(set) var restart: [String] = []
    /// Whom a change that takes effect now concerns.
    private(set) var owners: [SettingOwner] = []

    init(_ old: Configuration, _ new: Configuration) {
        var concerned: Set<SettingOwner> = []
        for setting in SettingsTable.settings {
            for (key, axis) in setting.concreteKeys where setting.write(old, axis) != setting.write(new, axis) {
                changed.append(key)
                if setting.apply != .restart { concerned.formUnion(setting.owners) }
                switch setting.apply {
                case .live: live.append(key)
                case .restartStream: restartStream.append(key)
                case .restart: restart.append(key)
                }
            }
        }
        // What the pipeline and the reporter publish carries the number of the revision.
        if !changed.isEmpty { concerned.formUnion([.sampling, .reporter]) }
        owners = SettingOwner.allCases.filter(concerned.contains)
    }
}

/// Which settings differ between two snapshots, by when a change takes effect.
struct SettingsDifference {
    /// Keys such as `axes.x.filter`, in the table's order.
    private(set) var changed: [String] = []
    private(set) var live: [String] = []
    private(set) var restartStream: [String] = []
    private(set) var restart: [String] = []
    /// Owners who are asked whether it can be made.
    private(set) var owners: [SettingOwner] = []

    init(_ old: Configuration, _ new: Configuration) {
        var rows: [StationSetting] = []
        for setting in SettingsTable.settings {
            for (key, axis) in setting.concreteKeys where setting.write(old, axis) != setting.write(new, axis) {
                changed.append(key)
                rows.append(setting)
                switch setting.apply {
                case .live: live.append(key)
                case .restartStream: restartStream.append(key)
                case .restart: restart.append(key)
                }
            }
        }
        owners = SettingOwner.asked(for: rows)
    }
}

/// The documentation page of the settings (Markdown), made from the table.
public enum SettingsManual {
    public static let text: String = {
        var text = """
            # Settings

            Made from the table of settings by `seismote config manual`.

            """
        for chapter in SettingsTable.chapters {
            text += "\n## \(chapter.key)\n\n\(chapter.help)\n\n"
            text += "| Key | Default | Allowed | A change takes effect | Remotely | What it is |\n"
            text += "|---|---|---|---|---|---|\n"
            for setting in chapter.settings {
                let cells = [
                    "`\(setting.key)`", "`\(setting.defaultText)`", setting.allowed, setting.apply.rawValue,
                    setting.isRemote ? "yes" : setting.isUnlockable ? "if unlocked" : "no", setting.help,
                ]
                text += "| " + cells.map(escaped).joined(separator: " | ") + " |\n"
            }
        }
        return text
    }()

    static func escaped(_ cell: String) -> String {
        cell.map { $0 == "|" ? "\\|" : String($0) }.joined()
    }
}

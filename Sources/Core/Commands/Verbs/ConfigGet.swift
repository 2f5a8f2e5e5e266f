extension Command {
    public static let configGet = Command(
        "config-get", "Show the settings in force, where they come from, and the revisions.",
        result: "`rev`, `sha256`, `config`, `sources`, `overlay`, `pending`, `needs_restart`, `locked`, `revisions`, "
            + "`rejected`",
        onlyTells: true
    ) { _, _ in .effect(.settings(.show)) }
}

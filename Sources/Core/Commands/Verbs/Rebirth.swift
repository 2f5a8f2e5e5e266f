extension Command {
    public static let rebirth = Command(
        "rebirth", "Have stations publish their retained messages again.",
        result: "`topics`: how many retained messages are sent again"
    ) { _, _ in .effect(.main(.rebirth)) }
}

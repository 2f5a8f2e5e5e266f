extension Command {
    public static let silence = Command(
        "silence", "End an alarm, or a test of its line.", result: "`silenced`: whether there was one"
    ) { _, _ in .effect(.alarm(.silence)) }
}

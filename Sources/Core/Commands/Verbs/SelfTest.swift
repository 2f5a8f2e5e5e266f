extension Command {
    public static let selftest = Command(
        "selftest", "Run the chip's own self-test at a running station.", result: "the chip's report", most: 1
    ) { _, _ in .effect(.sampling(.selfTest)) }
}

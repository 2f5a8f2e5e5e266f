extension Command {
    public static let resetExtremes = Command(
        "reset-extremes", "Start the minimum and maximum values again.", result: "`since`"
    ) { _, _ in .effect(.sampling(.resetExtremes)) }
}

import Station

/// All signals as CSV: a header, then one line a sample. Numbers are the shortest text that reads back to the same
/// double.
final class SeriesWriter {
    private let file: OutputFile
    private var start: Int64?
    private static let axes: [StaticString] = ["x", "y", "z"]

    private let ratios: [RatioColumn]

    init(_ file: OutputFile, ratios: [RatioColumn]) {
        self.ratios = ratios
        self.file = file
        file.append("t")
        for axis in ["x", "y", "z"] {
            for signal in ["raw", "offset_removed", "filtered", "rms", "triggered"] {
                file.append(",\(axis)_\(signal)")
            }
        }
        for ratio in ratios { file.append(",\(ratio.name)") }
        file.endLine()
    }

    func write(_ chunk: SeriesChunk) {
        for i in 0..<chunk.count {
            let time = chunk.time(i)
            let first = start ?? time
            start = first
            number(Double(time - first) / 1e9)
            for axis in 0..<3 {
                let k = axis * chunk.stride + i
                for signal in [chunk.raw, chunk.offsetRemoved, chunk.filtered, chunk.rms] {
                    file.append(UInt8(ascii: ","))
                    number(signal[k])
                }
                file.append(chunk.triggered[k] != 0 ? ",1" : ",0" as StaticString)
            }
            for ratio in ratios {
                file.append(UInt8(ascii: ","))
                number(chunk.ratio(ratio)[i])
            }
            file.endLine()
        }
    }

    private func number(_ value: Double) {
        // Whole numbers without the point: `5` reads back to the same double as `5.0`.
        var text = value.description
        if text.hasSuffix(".0") { text.removeLast(2) }
        file.append(text)
    }

    func check() throws(OutputError) { try file.check() }

    func close() throws(OutputError) { try file.finish() }
}

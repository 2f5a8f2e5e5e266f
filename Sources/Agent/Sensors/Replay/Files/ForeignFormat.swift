import Values

/// Formats that people give for recordings and that are not read: each is named, with what makes a recording of it.
enum ForeignFormat {
    /// A sentence on the format of a file that begins so; nil: it is none of these.
    static func sentence(_ bytes: UnsafeRawBufferPointer) -> String? {
        guard let (name, remedy) = recognised(bytes) else { return nil }
        return "this is \(name): \(remedy)"
    }

    private static let byObsPy =
        "convert it with ObsPy: python3 -c 'import obspy; obspy.read(\"FILE\").write(\"FILE.mseed\", \"MSEED\")'"
    private static let noSamples = "it describes stations and has no samples; give it as --stationxml to a recording"
    private static let unpack = "unpack it, and give the recording that is in it"

    private static func recognised(_ bytes: UnsafeRawBufferPointer) -> (String, String)? {
        for (start, name, remedy) in [
            ("WID2 ", "GSE2", byObsPy), ("WID1 ", "GSE1", byObsPy), ("XW01", "GSE1", byObsPy),
            ("BEGIN GSE", "GSE2", byObsPy),
            ("BEGIN IMS", "IMS 1.0", byObsPy), ("TIMESERIES ", "SLIST or TSPAIR text", byObsPy),
            ("Origin Time ", "K-NET or KiK-net text", byObsPy),
            ("PK\u{3}\u{4}", "a ZIP archive (or a table of Excel)", unpack),
            ("RIFF", "WAV", "write it as CSV with columns t, x, y, z"),
            (
                "{", "JSON",
                "messages of a station are read by seismote convert; write others as CSV with columns t, x, y, z"
            ),
            ("MATLAB 5.0", "a file of MATLAB", "write it as CSV with columns t, x, y, z"),
            ("%PDF", "a PDF", "a recording is CSV or miniSEED"),
        ] where begins(bytes, Array(start.utf8)) { return (name, remedy) }
        if begins(bytes, [0x1F, 0x8B]) { return ("gzip", unpack) }
        if begins(bytes, [0x89, 0x48, 0x44, 0x46]) { return ("HDF5", "write it as CSV with columns t, x, y, z") }
        if begins(bytes, [0x3C]) || begins(bytes, [0xEF, 0xBB, 0xBF, 0x3C]) {
            if contains(bytes, "FDSNStationXML") { return ("StationXML", noSamples) }
            if contains(bytes, "quakeml") { return ("QuakeML", "it describes earthquakes and has no samples") }
            return ("XML", "a recording is CSV or miniSEED")
        }
        // Sequence number and the code of a control header.
        if bytes.count >= 8, bytes[0..<6].allSatisfy({ $0.isDigit }), "VASTRN".utf8.contains(bytes[6]),
            bytes[7] == 0x20 || bytes[7] == 0x2A
        {
            return ("full SEED or a dataless volume", byObsPy)
        }
        return isSAC(bytes) ? ("SAC", byObsPy) : nil
    }

    private static func begins(_ bytes: UnsafeRawBufferPointer, _ start: [UInt8]) -> Bool {
        bytes.count >= start.count && bytes[0..<start.count].elementsEqual(start)
    }

    private static func contains(_ bytes: UnsafeRawBufferPointer, _ word: String) -> Bool {
        let word = Array(word.utf8)
        guard bytes.count >= word.count else { return false }
        return (0...(bytes.count - word.count)).contains { bytes[$0..<$0 + word.count].elementsEqual(word) }
    }

    /// The version of the header, 6 or 7, in either order of bytes; what is no text stands around it.
    private static func isSAC(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 632 else { return false }
        let version = bytes.loadUnaligned(fromByteOffset: 304, as: UInt32.self)
        guard [6, 7].contains(version.littleEndian) || [6, 7].contains(version.bigEndian) else { return false }
        return bytes[0..<440].contains(0)
    }
}

import CExpat
import Glibc

/// Reads the channels of a FDSN StationXML file that somebody wants, with expat and in one pass: a network's file may be
/// large, and may come from anywhere. No document type is taken, so there are no entities to expand and nothing to fetch;
/// depth and texts are bounded, and so is what is kept.
final class StationXMLReader {
    static let mostBytes = 1 << 30
    private static let deepest = 40
    private static let longestText = 200
    private static let mostEpochs = 10_000

    private let wanted: (StationXMLChannel) -> Bool
    private var found: [StationXMLChannel] = []
    private var failure: String?
    /// Names of the elements around the place, without their namespaces.
    private var path: [String] = []
    private var text: [UInt8] = []
    private var network = ""
    private var station = ""
    private var channel: StationXMLChannel?
    private var parser: XML_Parser?

    private init(_ wanted: @escaping (StationXMLChannel) -> Bool) { self.wanted = wanted }

    /// All epochs of the channels that are wanted.
    static func read(
        _ file: String, wanted: @escaping (StationXMLChannel) -> Bool
    ) throws(StationXMLError) -> [StationXMLChannel] {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw StationXMLError("\(file): \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw StationXMLError("\(file): not a regular file")
        }
        let reader = StationXMLReader(wanted)
        // (Between a namespace and a name in it.)
        guard let parser = XML_ParserCreateNS(nil, 0x7c) else { throw StationXMLError("\(file): no memory") }
        defer { XML_ParserFree(parser) }
        reader.parser = parser
        reader.connect(parser)
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        var total = 0
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count >= 0 else { throw StationXMLError("\(file): \(String(cString: strerror(errno)))") }
            total += count
            guard total <= mostBytes else {
                throw StationXMLError("\(file): the file is larger than \(mostBytes) bytes")
            }
            let status = XML_Parse(parser, buffer, Int32(count), count == 0 ? 1 : 0)
            if status != XML_STATUS_OK {
                let words = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "?"
                throw StationXMLError(
                    "\(file), line \(XML_GetCurrentLineNumber(parser)): \(reader.failure ?? "no XML: \(words)")")
            }
            if count == 0 { return reader.found }
        }
    }

    private func connect(_ parser: XML_Parser) {
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser,
            { data, name, attributes in
                guard let name, let attributes else { return }
                StationXMLReader.of(data)?.begin(String(cString: name), attributes)
            }, { data, _ in StationXMLReader.of(data)?.end() })
        XML_SetCharacterDataHandler(parser) { data, bytes, count in
            guard let bytes else { return }
            StationXMLReader.of(data)?.take(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
        }
        XML_SetStartDoctypeDeclHandler(parser) { data, _, _, _, _ in
            StationXMLReader.of(data)?.stop("a document type (DOCTYPE) is not allowed")
        }
    }

    private static func of(_ data: UnsafeMutableRawPointer?) -> StationXMLReader? {
        data.map { Unmanaged<StationXMLReader>.fromOpaque($0).takeUnretainedValue() }
    }

    private func stop(_ why: String) {
        failure = failure ?? why
        XML_StopParser(parser, XML_Bool(0))
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        text.append(contentsOf: bytes.prefix(Self.longestText - text.count))
    }

    private func begin(_ name: String, _ pointers: UnsafeMutablePointer<UnsafePointer<CChar>?>) {
        guard path.count < Self.deepest else { return stop("elements within more than \(Self.deepest) others") }
        let name = Self.local(name)
        text.removeAll(keepingCapacity: true)
        if path.isEmpty, name != "FDSNStationXML" {
            return stop("begins with <\(safe(name, limit: 60))>, a StationXML file with <FDSNStationXML>")
        }
        path.append(name)
        switch (path.count, name) {
        case (2, "Network"): network = Self.attribute("code", pointers)
        case (3, "Station"): station = Self.attribute("code", pointers)
        case (4, "Channel"):
            channel = StationXMLChannel(
                network: network, station: station, location: Self.attribute("locationCode", pointers),
                code: Self.attribute("code", pointers))
            channel?.begin = Self.attribute("startDate", pointers)
            channel?.end = Self.attribute("endDate", pointers)
        default: break
        }
    }

    private func end() {
        defer { path.removeLast() }
        guard channel != nil, path.count >= 4, path[1] == "Network", path[2] == "Station", path[3] == "Channel" else {
            return
        }
        let words = Self.trimmed(String(decoding: text, as: UTF8.self))
        switch path.dropFirst(4).joined(separator: "/") {
        case "":
            guard let done = channel, wanted(done) else { break }
            guard found.count < Self.mostEpochs else { return stop("more than \(Self.mostEpochs) epochs of a channel") }
            found.append(done)
            channel = nil
        case "Response/InstrumentSensitivity/Value": channel?.sensitivity = Double(words) ?? .nan
        case "Response/InstrumentSensitivity/InputUnits/Name": channel?.units = words
        case "Response/Stage/StageGain/Value":
            let before = channel?.gain ?? 1
            channel?.gain = before * (Double(words) ?? .nan)
        case let place where place.hasPrefix("Response/Stage/") && place.hasSuffix("/InputUnits/Name"):
            // Of the first stage; those behind it take volts and counts.
            if channel?.stageUnits == nil { channel?.stageUnits = words }
        default: break
        }
        text.removeAll(keepingCapacity: true)
    }

    private static func local(_ name: String) -> String {
        name.split(separator: "|", omittingEmptySubsequences: false).last.map(String.init) ?? name
    }

    private static func attribute(_ name: String, _ pointers: UnsafeMutablePointer<UnsafePointer<CChar>?>) -> String {
        var index = 0
        while let key = pointers[index], let value = pointers[index + 1] {
            if String(cString: key) == name {
                return trimmed(
                    String(
                        decoding: UnsafeRawBufferPointer(
                            start: value, count: min(strlen(value), longestText)), as: UTF8.self))
            }
            index += 2
        }
        return ""
    }

    private static func trimmed(_ text: String) -> String {
        let blank: (Character) -> Bool = { $0 == " " || $0 == "\n" || $0 == "\t" || $0 == "\r" || $0 == "\r\n" }
        return String(text.drop(while: blank).reversed().drop(while: blank).reversed())
    }
}

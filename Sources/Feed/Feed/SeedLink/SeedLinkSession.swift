import Messages
import Values

/// A client's conversation in SeedLink 3.1 or 4.0: bytes in, bytes out. It neither waits nor opens anything: the server
/// around it hands it what has come, and gives it turns to answer and, when the client takes some, to send packets.
public struct SeedLinkSession: Sendable {
    /// Limits on a client's requests.
    public struct Limits: Sendable, Equatable {
        /// Bytes of a command.
        public var line = 512
        /// Commands before the first packet, and selectors in all.
        public var commands = 20_000
        var selectors = 2000
        /// Patterns of stations, with `*` or `?` in them.
        var patterns = 100
        /// Bytes that wait while a password is checked.
        public var backlog = 16 << 10
        /// Work of one ``pump(_:most:)`` or ``obey(_:most:)``, in units of a selector held against a channel. A packet
        /// that is read from the archive, or a command, is four of them, 64 bytes of an answer are one. It is about two
        /// milliseconds.
        public var work = 2048
        public init() {}
    }

    /// Identity of the server.
    public struct Identity: Sendable, Equatable {
        public var software: String
        public var organisation: String
        public init(software: String, organisation: String) {
            (self.software, self.organisation) = (software, organisation)
        }
    }

    /// Position up to which a station has been sent.
    struct Cursor: Sendable {
        var station: Int
        var subscription: Int
        var next: UInt64
        var isDone = false
        /// Whether channels are asked for, as far as it is known: by ``FeedStream/key(_:_:)``.
        var selected: [String: Bool] = [:]
    }

    /// Work that is left in a turn.
    private struct Work {
        var left: Int
        mutating func take(_ units: Int) { left -= units }
    }

    /// A name and a password that are to be checked.
    public struct Login: Sendable, Equatable {
        public var user: String
        public var password: String
        public init(user: String, password: String) { (self.user, self.password) = (user, password) }
    }

    /// Whether and how a client is asked for an account.
    public enum Access: Sendable, Equatable {
        /// No account is needed.
        case open
        /// One is needed, and passwords may be sent here.
        case account
        /// One is needed, and this connection is not encrypted: passwords are refused on it.
        case encryptedAccount
    }

    /// Bytes that wait to be sent; `takeOutput` empties it.
    public private(set) var output: [UInt8] = []
    /// The connection is to be closed when the output is sent.
    public private(set) var isEnded = false
    /// Reason why the client was cut; nil: it was not.
    public private(set) var complaint: String?
    /// Packets are being sent.
    public private(set) var isStreaming = false
    public private(set) var packets = 0
    /// The client's description of itself.
    public private(set) var program = ""

    /// Login to check before the conversation goes on; see ``decide(_:_:)``.
    public private(set) var login: Login?
    /// Stations that are sent, and the number of the packet that comes next of each.
    public var positions: [FeedClient.Position] { cursors.map { .init(station: $0.station, next: $0.next) } }

    let identity: Identity
    private let limits: Limits
    private let access: Access
    private var isKnown = false
    /// Bytes that have come, and how many of them have been obeyed.
    private var input: [UInt8] = []
    private var obeyed = 0
    private var line: [UInt8] = []
    private var commands = 0
    private var selectors = 0
    /// The client has said STATION.
    private var hasStations = false
    private(set) var isVersion4 = false
    private var hasExtendedReplies = false
    private var isBatch = false
    private var patterns = 0
    /// Stations that were there when the stream began.
    private var firstStations = 0
    private var subscriptions: [SeedLinkSubscription] = []
    private var cursors: [Cursor] = []
    private var knownStations = 0
    private var turn = 0

    public init(identity: Identity, limits: Limits = Limits(), access: Access = .open) {
        (self.identity, self.limits, self.access) = (identity, limits, access)
    }

    /// The bytes to be sent; they are gone from here.
    public mutating func takeOutput() -> [UInt8] {
        defer { output.removeAll(keepingCapacity: true) }
        return output
    }

    private mutating func send(_ text: String) { output.append(contentsOf: text.utf8) }
    private mutating func send(_ bytes: [UInt8]) { output.append(contentsOf: bytes) }

    private mutating func cut(_ reason: String) {
        (isEnded, isStreaming) = (true, false)
        complaint = reason
        line.removeAll()
        (input, obeyed) = ([], 0)
    }

    // MARK: Commands

    /// Bytes that have come and have not been obeyed: whoever reads from the client stops where they become many.
    public var waitingBytes: Int { input.count - obeyed }

    /// There is something to obey.
    public var hasCommands: Bool { waitingBytes > 0 && login == nil && !isEnded }

    /// Takes what has come from the client; ``obey(_:most:)`` does what it says.
    public mutating func take(_ bytes: some Sequence<UInt8>) {
        if isEnded { return }
        input.append(contentsOf: bytes)
        if login != nil, waitingBytes > limits.backlog {
            cut("more than \(limits.backlog) bytes while a password is checked")
        }
    }

    /// Does what the client has said, until that is done, the output is full, or enough has been done for this turn.
    /// - Returns: whether there is more to obey: others have their turn before.
    @discardableResult
    public mutating func obey(_ archive: some FeedArchive, most: Int = 64 << 10) -> Bool {
        // What has been obeyed is not kept, however long the client goes on without a pause.
        defer {
            input.removeFirst(obeyed)
            obeyed = 0
        }
        var work = Work(left: limits.work)
        while hasCommands {
            if work.left <= 0 || output.count >= most { return true }
            let byte = input[obeyed]
            obeyed += 1
            guard byte == 0x0D || byte == 0x0A else {
                line.append(byte)
                if line.count > limits.line { cut("a command of more than \(limits.line) bytes") }
                continue
            }
            if line.isEmpty { continue }
            let text = String(decoding: line, as: UTF8.self)
            line.removeAll(keepingCapacity: true)
            commands += 1
            if commands > limits.commands {
                cut("more than \(limits.commands) commands")
                break
            }
            let before = output.count
            obey(text.split(whereSeparator: { $0 == " " || $0 == "\t" }), archive)
            work.take(4 + (output.count - before) / 64)
        }
        return false
    }

    /// The login has been checked.
    public mutating func decide(_ isGood: Bool) {
        guard login != nil else { return }
        login = nil
        isKnown = isGood
        if isGood { accept() } else { refuse("UNAUTHORIZED", "this account is not known, or the password is another") }
    }

    /// Commands that are allowed before the account is known.
    private static let openToAll = ["HELLO", "SLPROTO", "USERAGENT", "GETCAPABILITIES", "CAPABILITIES", "AUTH", "BYE"]

    private mutating func obey(_ words: [Substring], _ archive: some FeedArchive) {
        guard let verb = words.first?.uppercased() else { return }
        let arguments = Array(words.dropFirst())
        if access != .open, !isKnown, !Self.openToAll.contains(verb) {
            return refuse("UNAUTHORIZED", "an account is needed: SLPROTO 4.0, then AUTH USERPASS name password")
        }
        switch verb {
        case "BYE": isEnded = true
        case "INFO": info(arguments, archive)
        // The client has what it wants; anything else would come between packets.
        case _ where isStreaming: break
        case "HELLO": hello()
        case "SLPROTO": chooseVersion(arguments)
        case "USERAGENT":
            program = arguments.joined(separator: " ")
            accept()
        case "GETCAPABILITIES" where isVersion4: send("\(capabilities)\r\n")
        case "CAPABILITIES" where !isVersion4:
            hasExtendedReplies = arguments.contains { $0.uppercased() == "EXTREPLY" }
            accept()
        case "BATCH" where !isVersion4:
            accept()
            isBatch = true
        case "CAT" where !isVersion4: catalogue(archive)
        case "STATION": station(arguments)
        case "SELECT": select(arguments)
        case "DATA", "FETCH", "TIME": start(verb, arguments, archive)
        case "END": stream(isFetch: false, archive)
        case "ENDFETCH" where isVersion4: stream(isFetch: true, archive)
        case "AUTH" where isVersion4: authenticate(arguments)
        default: refuse("UNSUPPORTED", "no such command")
        }
    }

    private mutating func authenticate(_ arguments: [Substring]) {
        guard access != .open else { return refuse("UNSUPPORTED", "no account is needed here") }
        guard access == .account else { return refuse("UNSUPPORTED", "passwords are taken over TLS only") }
        guard subscriptions.isEmpty, !isKnown else {
            return refuse("UNEXPECTED", "AUTH comes before STATION, and once")
        }
        guard arguments.count == 3, arguments[0].uppercased() == "USERPASS" else {
            return refuse("ARGUMENTS", "AUTH USERPASS name password")
        }
        login = Login(user: String(arguments[1]), password: String(arguments[2]))
    }

    private mutating func accept() { if !isBatch { send("OK\r\n") } }

    private mutating func refuse(_ code: String, _ words: String) {
        if isVersion4 || hasExtendedReplies {
            send("ERROR \(code) \(words)\r\n")
        } else if !isBatch {
            send("ERROR\r\n")
        }
    }

    private static let capabilities = "SLPROTO:4.0 SLPROTO:3.1 CAP EXTREPLY NSWILDCARD BATCH TIME"

    /// Capabilities of this connection.
    var capabilities: String { access == .account ? Self.capabilities + " AUTH:USERPASS" : Self.capabilities }

    private mutating func hello() {
        send("SeedLink v4.0 (\(identity.software)) :: \(capabilities)\r\n\(identity.organisation)\r\n")
    }

    private mutating func chooseVersion(_ arguments: [Substring]) {
        guard subscriptions.isEmpty else { return refuse("UNEXPECTED", "SLPROTO comes first") }
        switch arguments.first {
        case "4.0": isVersion4 = true
        case "3.1", "3.0": isVersion4 = false
        default: return refuse("UNSUPPORTED", "versions 4.0 and 3.1 are spoken here")
        }
        accept()
    }

    private mutating func catalogue(_ archive: some FeedArchive) {
        for station in archive.stations {
            let code = station.code.padding(5), network = station.network.padding(2)
            send("\(network) \(code) \(SeedLinkInfo.plain(station.description))\r\n")
        }
        send("END")
    }

    private mutating func station(_ arguments: [Substring]) {
        var parts = arguments.map(String.init)
        if isVersion4 {
            // XX_BASE
            guard parts.count == 1, let bar = parts[0].firstIndex(of: "_") else {
                return refuse("ARGUMENTS", "STATION needs NETWORK_STATION")
            }
            parts = [String(parts[0][parts[0].index(after: bar)...]), String(parts[0][..<bar])]
        }
        guard (1...2).contains(parts.count), parts.allSatisfy({ (1...16).contains($0.utf8.count) }) else {
            return refuse("ARGUMENTS", "STATION needs a station and its network")
        }
        if parts.contains(where: { $0.contains("*") || $0.contains("?") }) {
            patterns += 1
            if patterns > limits.patterns {
                return refuse("LIMIT", "more than \(limits.patterns) patterns of stations")
            }
        }
        hasStations = true
        if let last = subscriptions.indices.last, !subscriptions[last].isReady { subscriptions.removeLast() }
        subscriptions.append(SeedLinkSubscription(network: parts.count == 2 ? parts[1] : "*", station: parts[0]))
        accept()
    }

    private mutating func select(_ arguments: [Substring]) {
        // Without STATION, all of the server is one station.
        if subscriptions.isEmpty {
            if isVersion4 { return refuse("UNEXPECTED", "STATION comes first") }
            subscriptions = [.all]
        }
        let last = subscriptions.count - 1
        // An empty one takes back what was selected.
        if arguments.isEmpty { subscriptions[last].selectors = [] }
        for word in arguments {
            guard let pattern = StreamPattern(word, version4: isVersion4) else {
                return refuse("ARGUMENTS", "this is no selector of channels")
            }
            selectors += 1
            if selectors > limits.selectors { return refuse("LIMIT", "too many selectors") }
            subscriptions[last].selectors.append(pattern)
        }
        accept()
    }

    /// DATA, FETCH, TIME.
    private mutating func start(_ verb: String, _ arguments: [Substring], _ archive: some FeedArchive) {
        // Without STATION, this begins the stream at once.
        let isUniStation = !isVersion4 && !hasStations
        if subscriptions.isEmpty {
            if isVersion4 { return refuse("UNEXPECTED", "STATION comes first") }
            subscriptions = [.all]
        }
        var one = subscriptions[subscriptions.count - 1]
        (one.isReady, one.isFetch) = (true, verb == "FETCH")
        var times = arguments
        if verb != "TIME", let word = arguments.first {
            times.removeFirst()
            if isVersion4, word.uppercased() == "ALL" {
                one.start = .earliest
            } else if let number = isVersion4 ? UInt64(word) : Self.hexadecimal(word) {
                one.start = .sequence(number)
            } else {
                return refuse("ARGUMENTS", "this is no sequence number")
            }
        }
        var window: [Int64] = []
        for word in times {
            guard let time = SeedLinkTime.read(word) else { return refuse("ARGUMENTS", "this is no time") }
            window.append(time)
        }
        guard window.count <= 2, verb != "TIME" || !window.isEmpty, window.count < 2 || window[0] <= window[1] else {
            return refuse("ARGUMENTS", "a time to begin with is needed, and perhaps a later one to end with")
        }
        (one.begin, one.end) = (window.first, window.count == 2 ? window[1] : nil)
        subscriptions[subscriptions.count - 1] = one
        if isUniStation { return stream(isFetch: false, archive) }
        accept()
    }

    /// Six digits of hexadecimal, also with `0x` before them.
    private static func hexadecimal(_ word: Substring) -> UInt64? {
        let digits = word.hasPrefix("0x") || word.hasPrefix("0X") ? word.dropFirst(2) : word
        guard let number = UInt64(digits, radix: 16), number <= 0x1_000_000 else { return nil }
        return number & 0xFF_FFFF
    }

    // MARK: What is asked about the server

    private mutating func info(_ arguments: [Substring], _ archive: some FeedArchive) {
        guard let item = arguments.first?.uppercased() else { return refuse("ARGUMENTS", "INFO of what?") }
        if isVersion4 {
            let answer = SeedLinkInfo.json(item, Array(arguments.dropFirst()), identity, capabilities, archive)
            let error: Value = ["error": ["code": "ARGUMENTS", "message": "no such item"]]
            let bytes = (answer ?? error).json()
            sendHeader(answer == nil ? "JE" : "JI", bytes.count, 0, "")
            return send(bytes)
        }
        let answer = SeedLinkInfo.xml(item, identity, archive)
        let text = Array((answer ?? "<?xml version=\"1.0\"?><seedlink/>").utf8)
        var (place, number) = (0, 1)
        repeat {
            let part = text[place..<min(text.count, place + SeedLinkInfo.recordText)]
            place = part.endIndex
            send(place < text.count ? "SLINFO *" : "SLINFO  ")
            send(SeedLinkInfo.record(part, number: number, time: archive.now))
            number += 1
        } while place < text.count
    }

    // MARK: Packets

    private mutating func stream(isFetch: Bool, _ archive: some FeedArchive) {
        subscriptions.removeAll { !$0.isReady }
        guard !subscriptions.isEmpty else { return refuse("UNEXPECTED", "no station was asked for") }
        if isFetch { for index in subscriptions.indices { subscriptions[index].isFetch = true } }
        isStreaming = true
        firstStations = archive.stations.count
    }

    /// Looks which stations are asked for among those that are new.
    private mutating func meet(_ stations: [FeedStation], _ archive: some FeedArchive, _ work: inout Work) {
        while knownStations < stations.count, work.left > 0 {
            let index = knownStations
            let station = stations[index]
            knownStations += 1
            let wanted = subscriptions.firstIndex { $0.matches(station) }
            work.take(1 + (wanted ?? subscriptions.count) / 8)
            guard let wanted else { continue }
            let next = subscriptions[wanted].first(
                of: station, at: index, isNew: index >= firstStations, isVersion4: isVersion4, archive)
            // (Where a time begins has been asked of the disk.)
            if subscriptions[wanted].begin != nil { work.take(128) }
            cursors.append(Cursor(station: index, subscription: wanted, next: next))
        }
    }

    /// Puts packets into the output until it is full, there are no more, or enough has been done for this turn.
    /// - Returns: whether there is more to do: others have their turn before.
    @discardableResult
    public mutating func pump(_ archive: some FeedArchive, most: Int = 64 << 10) -> Bool {
        guard isStreaming, !isEnded else { return false }
        var work = Work(left: limits.work)
        let stations = archive.stations
        meet(stations, archive, &work)
        var idle = 0
        while idle < cursors.count {
            if output.count >= most || work.left <= 0 { return true }
            // Stations take turns, so that none waits for another.
            turn = turn + 1 < cursors.count ? turn + 1 : 0
            idle = advance(turn, stations, archive, &work) ? 0 : idle + 1
        }
        if knownStations < stations.count { return true }
        let isOver = !cursors.isEmpty && cursors.allSatisfy(\.isDone)
        if isOver || cursors.isEmpty && subscriptions.allSatisfy(\.isFetch) {
            send("END")
            (isStreaming, isEnded) = (false, true)
        }
        return false
    }

    /// Whether a channel is asked for.
    private func selects(
        _ cursor: inout Cursor, _ location: String, _ channel: String, _ work: inout Work
    ) -> Bool {
        let key = FeedStream.key(location, channel)
        if let known = cursor.selected[key] { return known }
        let wanted = subscriptions[cursor.subscription]
        work.take(wanted.selectors.count)
        let isWanted = wanted.selects(location: location, channel: channel)
        cursor.selected[key] = isWanted
        return isWanted
    }

    /// Sends some packets of a station.
    /// - Returns: whether there may be more.
    private mutating func advance(
        _ index: Int, _ stations: [FeedStation], _ archive: some FeedArchive, _ work: inout Work
    ) -> Bool {
        var cursor = cursors[index]
        if cursor.isDone { return false }
        let station = stations[cursor.station]
        let wanted = subscriptions[cursor.subscription]
        // What the ring has let go is gone.
        cursor.next = max(cursor.next, station.first)
        defer { cursors[index] = cursor }
        guard cursor.next <= station.last else {
            cursor.isDone =
                wanted.isFetch || wanted.isOver(station) { selects(&cursor, $0.location, $0.channel, &work) }
            return false
        }
        // Nothing is read of a station none of whose channels is asked for.
        if !station.streams.isEmpty,
            station.streams.allSatisfy({ !selects(&cursor, $0.location, $0.channel, &work) })
        {
            cursor.next = station.last + 1
            return true
        }
        let found = archive.packets(of: cursor.station, from: cursor.next, most: 32)
        work.take(4 * max(1, found.count))
        guard let last = found.last else { return false }
        for packet in found {
            if let end = wanted.end, packet.start > end {
                // Other channels may still be behind; a minute later none is.
                if packet.start - end > 60_000_000_000 { cursor.isDone = true }
                continue
            }
            if let begin = wanted.begin, packet.end < begin, wanted.start == .next { continue }
            guard selects(&cursor, packet.location, packet.channel, &work) else { continue }
            send(packet, of: station)
            packets += 1
        }
        cursor.next = last.sequence + 1
        return true
    }

    private mutating func send(_ packet: FeedPacket, of station: FeedStation) {
        if isVersion4 {
            sendHeader("2D", packet.record.count, packet.sequence, station.identifier)
        } else {
            let digits = String(packet.sequence & 0xFF_FFFF, radix: 16, uppercase: true)
            send("SL" + String(repeating: "0", count: 6 - digits.utf8.count) + digits)
        }
        send(packet.record)
    }

    /// The header of a packet of version 4.
    private mutating func sendHeader(_ format: String, _ length: Int, _ sequence: UInt64, _ station: String) {
        send("SE\(format)")
        for shift in stride(from: 0, to: 32, by: 8) { output.append(UInt8(truncatingIfNeeded: length >> shift)) }
        for shift in stride(from: 0, to: 64, by: 8) { output.append(UInt8(truncatingIfNeeded: sequence >> shift)) }
        let name = station.utf8.prefix(255)
        output.append(UInt8(name.count))
        output.append(contentsOf: name)
    }
}

extension String {
    func padding(_ width: Int) -> String { self + String(repeating: " ", count: max(0, width - utf8.count)) }
}

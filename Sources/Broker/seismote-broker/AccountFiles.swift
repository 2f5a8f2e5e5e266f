import Administration
import Glibc

/// The files of accounts while they are changed, by one process at a time.
///
/// The order of a change: first it is marked as begun; then whoever loses rights loses them; then others get theirs; then the
/// broker reads the files and ends connections; then what was needed for that goes. Whatever was cut is finished by the next
/// change, by `tidy`, or by the next start of the broker: the list of accounts says what is to be.
struct AccountFiles {
    let place: Place
    let authority: Authority
    let unit: BrokerUnit
    private let lock: FileLock
    var ledger: Ledger
    private var written: Ledger
    /// Certificates are being revoked of these.
    private var held: Set<String>
    /// Connections of these end.
    private var ended: Set<String> = []
    private var secret = ""
    private var isBegun = false
    /// True when an earlier change was cut short.
    private(set) var wasUnfinished = false

    /// - Parameter seconds: that others are waited for; nil: without end.
    init(_ place: Place, seconds: Double? = 90) throws(Failure) {
        self.place = place
        authority = Authority(place: place)
        unit = BrokerUnit(place: place)
        guard let lock = FileLock("\(place.folder)/.lock", seconds: seconds) else {
            throw Failure("another seismote-broker is at work")
        }
        self.lock = lock
        written = Self.read(place)
        ledger = written
        held = Set((Disk.text(place.held) ?? "").split(separator: "\n").map(String.init))
        wasUnfinished = Disk.exists(place.unfinished)
    }

    static func needsRoot(_ place: Place, _ words: String) throws(Failure) {
        guard access(place.folder, W_OK) == 0 else {
            throw Failure("\(place.folder) cannot be written: sudo seismote-broker \(words)")
        }
    }

    /// As the files are.
    static func read(_ place: Place) -> Ledger {
        var invitations: [String: Invitation] = [:]
        for id in Disk.names(place.invitations) where AccountName.isInvitation(id) {
            // (One without a sensible line is over.)
            invitations[id] =
                Disk.text("\(place.invitations)/\(id)").flatMap { Invitation(line: $0) }
                ?? Invitation(name: "-", end: 0)
        }
        return Ledger(
            accounts: Disk.text(place.accounts) ?? "", passwords: Disk.text(place.passwords) ?? "",
            revoked: Disk.text("\(place.clients)/revoked") ?? "", invitations: invitations)
    }

    // MARK: a change

    /// Marks that a change begins, and takes up what one before has left.
    mutating func begin() throws(Failure) {
        try mark()
        if wasUnfinished { try finish() }
        sayRevived()
    }

    private mutating func mark() throws(Failure) {
        guard !isBegun else { return }
        isBegun = true
        try Disk.replace(place.unfinished, "", owner: .root)
    }

    /// Finishes what was cut: whoever is not in the list of accounts has nothing.
    private mutating func finish() throws(Failure) {
        ledger.finish()
        var lost = held
        for name in Disk.names(place.certificates) where AccountName.isPlain(name) && ledger.role(of: name) == nil {
            lost.insert(name)
        }
        // (Of a station that is in the list what is held was to be revoked in part; `tidy` knows which.)
        try hold(lost)
        for name in lost where ledger.role(of: name) == nil { revoke(name, serials: nil) }
        ended.formUnion(lost)
    }

    /// From now on the service gives these no certificate; what it was giving is there when this returns.
    mutating func hold(_ names: Set<String>) throws(Failure) {
        guard !names.isEmpty else { return }
        held.formUnion(names)
        try Disk.replace(place.held, held.sorted().map { $0 + "\n" }.joined(), owner: .enrolment)
        guard Disk.exists(place.signing) else { return }
        guard let signing = FileLock(place.signing, flags: O_RDONLY, seconds: 15) else {
            return note("The service seismote-broker-enrol does not end its work: its certificates may be incomplete.")
        }
        signing.release()
    }

    /// Revokes certificates of a station, which has to be held.
    /// - Parameter serials: nil: all.
    /// - Returns: whether there was one.
    @discardableResult
    mutating func revoke(_ name: String, serials: Set<String>?) -> Bool {
        let now = wallSeconds()
        let known = Set(ledger.revoked.map(\.serial))
        let lost = place.certificates(of: name).map(\.certificate).filter { one in
            !known.contains(one.serial) && serials?.contains(one.serial) ?? true && one.until + Revocation.kept > now
        }
        ledger.revoke(
            lost.map { Revocation(serial: $0.serial, until: $0.until, time: now, name: name) }, now: now)
        return !lost.isEmpty
    }

    /// Connections of this account are ended by the broker.
    mutating func end(_ name: String) { ended.insert(name) }

    mutating func setPassword(_ name: String, _ password: [UInt8]) {
        ledger.hashes[name] = PasswordHash.make(password, salt: (0..<12).map { _ in randomByte() })
    }

    /// Brings the change to the disk, and to the broker; when it returns it is in force.
    mutating func commit() throws(Failure) {
        try mark()
        secret = ReadableLetters.draw(26, randomByte)
        setPassword(Ledger.control, Array(secret.utf8))
        try write()
        let changed = Set(ledger.hashes.keys).union(written.hashes.keys)
            .filter { ledger.hashes[$0] != written.hashes[$0] && $0 != Ledger.control }
        var known = Set(ledger.hashes.keys)
        known.remove(Ledger.control)
        try unit.tell(secret: secret, changed: changed, known: known, ended: ended)
        try settle()
    }

    /// The same where the broker reads the files when it starts.
    mutating func commitBeforeStart() throws(Failure) {
        try mark()
        setPassword(Ledger.control, Array(ReadableLetters.draw(26, randomByte).utf8))
        try write()
        try settle()
    }

    private mutating func write() throws(Failure) {
        var lost = written
        let gone = Set(written.accounts.map(\.name)).subtracting(ledger.accounts.map(\.name))
        lost.remove(gone)
        if !gone.isEmpty {
            try Disk.replace(place.accounts, lost.accountLines)
            try Removed(place: place).note(removed: gone)
        }
        if ledger.revoked != written.revoked {
            try Disk.replace("\(place.clients)/revoked", ledger.revokedLines, owner: .enrolment)
        }
        if Disk.exists("\(place.clients)/ca.pem"),
            authority.problemOfList(ledger.revoked) != nil || ledger.revoked != written.revoked
        {
            try authority.writeRevoked(ledger.revoked)
        }
        try Removed(place: place).remember(ledger.revoked)
        try Disk.replace(place.passwords, ledger.passwordLines)
        let fresh = ledger.invitations.filter { written.invitations[$0.key] != $0.value }
        if !fresh.isEmpty {
            try Disk.replace(
                fresh.map { ("\(place.invitations)/\($0.key)", $0.value.line + "\n") }, owner: .enrolment)
        }
        let rights = ledger.rights
        if Disk.text(place.acl) != rights { try Disk.replace(place.acl, rights) }
        if ledger.accounts != lost.accounts || !Disk.exists(place.accounts) {
            try Disk.replace(place.accounts, ledger.accountLines)
        }
    }

    /// Deletes what only the change needed.
    private mutating func settle() throws(Failure) {
        for id in written.invitations.keys where ledger.invitations[id] == nil {
            unlink("\(place.invitations)/\(id)")
        }
        Disk.syncFolder(of: "\(place.invitations)/.")
        Disk.remove(place.held)
        Disk.remove(place.unfinished)
        (written, held, ended, isBegun, wasUnfinished) = (ledger, [], [], false, false)
    }

    /// Ends a change that has turned out to be none.
    mutating func abandon() {
        Disk.remove(place.unfinished)
        isBegun = false
    }

    // MARK: what a backup has revived

    /// Takes back what a backup has revived of certificates, and says which accounts it has.
    mutating func sayRevived() {
        let removed = Removed(place: place)
        let known = Set(ledger.revoked.map(\.serial))
        let forgotten = removed.revoked.filter { !known.contains($0.serial) }
        if !forgotten.isEmpty {
            ledger.revoke(forgotten, now: wallSeconds())
            let names = Set(forgotten.map(\.name)).sorted().joined(separator: ", ")
            note(
                "A backup was put back in which certificates are good that were revoked since: they stay revoked (\(names))."
            )
        }
        for line in removed.revived(ledger) { note(line) }
    }

    // MARK: time

    /// Finds what begins in the future, because a clock was ahead, and makes it anew.
    /// - Returns: whether the broker has to be started again to believe it.
    mutating func mendTimes() throws(Failure) -> Bool {
        guard let own = authority.own else { return false }
        let now = wallSeconds()
        if own.from > now {
            note(
                "The clock of this machine says \(UTC.text(now)), and the broker's authority begins at \(UTC.text(own.from)): one of them is wrong. Nothing is made anew; see timedatectl, and seismote-broker certificates."
            )
            return false
        }
        var mustRestart = false
        if let server = Disk.text("\(place.tls)/server.pem").flatMap({ Certificate(pem: $0) }), server.from > now {
            note(
                "The broker's certificate begins at \(UTC.text(server.from)), since a clock was ahead: it is made anew."
            )
            try authority.makeServer([])
        }
        if authority.problemOfList(ledger.revoked) == .future {
            note("The list of revoked certificates begins in the future, since a clock was ahead: it is made anew.")
            try authority.writeRevoked(ledger.revoked)
            // (A running broker keeps the one of before, too, and would believe it later.)
            mustRestart = true
        }
        return mustRestart
    }
}

/// Record of removals on this machine, outside of what a backup has.
struct Removed {
    let place: Place

    private var accountFile: String { "\(place.removed)/accounts" }
    private var revokedFile: String { "\(place.removed)/revoked" }

    /// When accounts were removed, in seconds since 1970.
    var accounts: [String: Int] {
        var found: [String: Int] = [:]
        for line in (Disk.text(accountFile) ?? "").split(separator: "\n") {
            let fields = line.split(separator: " ")
            if fields.count == 2, let time = Int(fields[1]) { found[String(fields[0])] = time }
        }
        return found
    }

    var revoked: [Revocation] {
        (Disk.text(revokedFile) ?? "").split(separator: "\n").compactMap { Revocation(line: String($0)) }
    }

    func prepare() throws(Failure) { try Disk.makeFolder(place.removed, mode: 0o700) }

    func note(removed names: some Sequence<String>) throws(Failure) {
        var all = accounts
        for name in names { all[name] = wallSeconds() }
        try write(all)
    }

    /// Accounts that are made again, on purpose.
    func forget(_ names: some Sequence<String>) throws(Failure) {
        var all = accounts
        let before = all.count
        for name in names { all[name] = nil }
        if all.count != before { try write(all) }
    }

    private func write(_ all: [String: Int]) throws(Failure) {
        try prepare()
        try Disk.replace(
            accountFile, all.keys.sorted().map { "\($0) \(all[$0] ?? 0)\n" }.joined(), owner: .root)
    }

    func remember(_ list: [Revocation]) throws(Failure) {
        let text = list.map { $0.line + "\n" }.joined()
        guard Disk.text(revokedFile) ?? "" != text else { return }
        try prepare()
        try Disk.replace(revokedFile, text, owner: .root)
    }

    /// A line for each account that was removed, and is there again.
    func revived(_ ledger: Ledger) -> [String] {
        accounts.filter { ledger.role(of: $0.key) != nil }.sorted { $0.key < $1.key }.map { name, time in
            "The account \(name) was removed on \(local(time, "%F")), and a backup that was put back has it again. seismote-broker remove \(name) takes it away; seismote-broker password \(name), or invite \(name), keeps it."
        }
    }
}

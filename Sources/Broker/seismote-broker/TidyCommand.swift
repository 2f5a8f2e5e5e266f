import Administration
import Broker
import Certificates
import Glibc

/// `tidy`: puts into force what the service has decided. A board that has joined needs its invitation no more, nor the password
/// of before, nor does the board that had the name before keep its certificate.
struct TidyCommand {
    let place: Place

    func run() throws(Failure) {
        try Books.needsRoot(place, "tidy")
        // (Others need not wait for this.)
        let first = Books.read(place)
        let coming = joined(first).map { first.invitations[$0.id]?.name ?? "" }
        BrokerUnit(place: place).awaitCertificates(coming.filter { first.hashes[$0] != nil })
        // (It runs by itself: whoever is at work is waited for, however long.)
        var books = try Books(place, seconds: nil)
        let wasUnfinished = books.wasUnfinished
        let serverBefore = Disk.bytes("\(place.tls)/server.pem")
        let mustRestart = try books.mendTimes()
        let before = books.ledger
        try books.begin()
        for (id, token) in joined(books.ledger) { try join(id, token, &books, wasUnfinished) }
        let now = wallSeconds()
        for (id, invitation) in books.ledger.invitations where invitation.end <= now || invitation.isFromFuture(now) {
            if invitation.isFromFuture(now) {
                note("The invitation of \(invitation.name) was made while a clock was ahead: it has ended.")
            }
            // Nobody came.
            let name = invitation.name
            if books.ledger.hashes[name] == nil, place.certificates(of: name).isEmpty,
                !books.ledger.invitations.contains(where: { $0.key != id && $0.value.name == name })
            {
                books.ledger.remove([name])
            }
            books.ledger.endInvitation(id)
        }
        let hasOld = try endOldAuthorities()
        let isChanged =
            wasUnfinished || mustRestart || hasOld || books.ledger != before
            || serverBefore != Disk.bytes("\(place.tls)/server.pem")
            || books.authority.problemOfList(books.ledger.revoked) != nil
        guard isChanged else { return books.abandon() }
        if hasOld { try books.authority.writeRevoked(books.ledger.revoked) }
        try books.commit()
        if mustRestart { _ = Systemd.does("restart", BrokerUnit.name) }
    }

    /// Notes of the service about invitations that are there. It is believed nothing but numbers.
    private func joined(_ ledger: Ledger) -> [(id: String, token: Token)] {
        Disk.names(place.joined).filter { AccountName.isInvitation($0) && ledger.invitations[$0] != nil }
            .compactMap { id in
                Disk.text("\(place.joined)/\(id)").flatMap { Token(line: $0) }.map { (id, $0) }
            }
    }

    private func join(_ id: String, _ token: Token, _ books: inout Books, _ wasUnfinished: Bool) throws(Failure) {
        guard let name = books.ledger.invitations[id]?.name else { return }
        books.ledger.hashes[name] = nil
        try books.hold([name])
        // What it had before, not what it has renewed since. (A service of an earlier version has not noted which.)
        let others: Set<String>
        if let before = token.before {
            others = Set(before)
        } else {
            others = Set(place.certificates(of: name).map(\.certificate.serial)).subtracting([token.serial])
        }
        books.revoke(name, serials: others)
        // (Only where there is another one: its connection ends, too.)
        if !others.isEmpty || wasUnfinished { books.end(name) }
        books.ledger.endInvitation(id)
    }

    /// (The broker takes them until it is started again; by then all certificates of them have ended.)
    private func endOldAuthorities() throws(Failure) -> Bool {
        var isChanged = false
        for path in Authority(place: place).clientAuthorities.dropFirst() {
            let number = path.split(separator: "-").last.flatMap { Int($0) } ?? .max
            guard number < wallSeconds() - 100 * 86_400, let text = Disk.text("\(path).pem") else { continue }
            unlink("\(place.clients)/trusted/\(try OpenSSL.folderName(of: text))")
            unlink("\(path).key")
            Disk.remove("\(path).pem")
            isChanged = true
        }
        return isChanged
    }
}

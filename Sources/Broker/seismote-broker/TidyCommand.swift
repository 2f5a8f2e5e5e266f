import Administration
import Glibc

/// `tidy`: puts into force what the service has decided. A board that has joined needs its invitation no more, nor the password
/// of before, nor does the board that had the name before keep its certificate.
struct TidyCommand {
    let place: Place

    func run() throws(Failure) {
        try AccountFiles.needsRoot(place, "tidy")
        // (Others need not wait for this.)
        let first = AccountFiles.read(place)
        let coming = joined(first).map { first.invitations[$0.id]?.name ?? "" }
        BrokerUnit(place: place).awaitCertificates(coming.filter { first.hashes[$0] != nil })
        // (It runs by itself: whoever is at work is waited for, however long.)
        var files = try AccountFiles(place, seconds: nil)
        let wasUnfinished = files.wasUnfinished
        let serverBefore = Disk.bytes("\(place.tls)/server.pem")
        let mustRestart = try files.mendTimes()
        let before = files.ledger
        try files.begin()
        for (id, token) in joined(files.ledger) { try join(id, token, &files, wasUnfinished) }
        let now = wallSeconds()
        for (id, invitation) in files.ledger.invitations where invitation.end <= now || invitation.isFromFuture(now) {
            if invitation.isFromFuture(now) {
                note("The invitation of \(invitation.name) was made while a clock was ahead: it has ended.")
            }
            // Nobody came.
            let name = invitation.name
            if files.ledger.hashes[name] == nil, place.certificates(of: name).isEmpty,
                !files.ledger.invitations.contains(where: { $0.key != id && $0.value.name == name })
            {
                files.ledger.remove([name])
            }
            files.ledger.endInvitation(id)
        }
        let hasOld = try endOldAuthorities()
        let isChanged =
            wasUnfinished || mustRestart || hasOld || files.ledger != before
            || serverBefore != Disk.bytes("\(place.tls)/server.pem")
            || files.authority.problemOfList(files.ledger.revoked) != nil
        guard isChanged else { return files.abandon() }
        if hasOld { try files.authority.writeRevoked(files.ledger.revoked) }
        try files.commit()
        if mustRestart { _ = Systemd.does("restart", BrokerUnit.name) }
    }

    /// Notes of the service about invitations that are there. It is believed nothing but numbers.
    private func joined(_ ledger: Ledger) -> [(id: String, token: Token)] {
        Disk.names(place.joined).filter { AccountName.isInvitation($0) && ledger.invitations[$0] != nil }
            .compactMap { id in
                Disk.text("\(place.joined)/\(id)").flatMap { Token(line: $0) }.map { (id, $0) }
            }
    }

    private func join(_ id: String, _ token: Token, _ files: inout AccountFiles, _ wasUnfinished: Bool) throws(Failure)
    {
        guard let name = files.ledger.invitations[id]?.name else { return }
        files.ledger.hashes[name] = nil
        // (A board that had nothing before loses nothing: it may renew its certificate meanwhile.)
        if token.before?.isEmpty != true { try files.hold([name]) }
        // What it had before, not what it has renewed since. (A service of an earlier version has not noted which.)
        let others: Set<String>
        if let before = token.before {
            others = Set(before)
        } else {
            others = Set(place.certificates(of: name).map(\.certificate.serial)).subtracting([token.serial])
        }
        files.revoke(name, serials: others)
        // (Only where there is another one: its connection ends, too.)
        if !others.isEmpty || wasUnfinished { files.end(name) }
        files.ledger.endInvitation(id)
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

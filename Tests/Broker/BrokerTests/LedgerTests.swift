import TestSupport
import Testing

@testable import seismote_broker

/// What a change that was cut leaves, and what clocks do.
@Suite struct LedgerTests {
    @Test func whoeverIsNotInTheListHasNothing() {
        var ledger = Ledger(
            accounts: "a station\nb viewer\n",
            passwords: "a:1\nb:2\ngone:3\nenrol-aaaaaaaa:4\nenrol-bbbbbbbb:5\n$control:6\n", revoked: "",
            invitations: [
                "aaaaaaaa": Invitation(name: "a", end: 9), "cccccccc": Invitation(name: "a", end: 9),
                "dddddddd": Invitation(name: "gone", end: 9),
            ])
        ledger.finish()
        #expect(ledger.hashes == ["a": "1", "b": "2", "enrol-aaaaaaaa": "4", "$control": "6"])
        #expect(ledger.invitations == ["aaaaaaaa": Invitation(name: "a", end: 9)])
        #expect(!ledger.rights.contains("user gone"))
        #expect(!ledger.rights.contains("enrol-cccccccc"))
    }

    @Test func aRevocationOutlivesAClockThatWasAhead() {
        let day = 86_400
        let old = Revocation(serial: String(repeating: "a", count: 30), until: 90 * day, time: 0, name: "a")
        // Another one is revoked while the clock is 1000 days, 40 years or 130 years ahead.
        for ahead in [1000 * day, 40 * 365 * day, 130 * 365 * day] {
            var ledger = Ledger()
            ledger.revoke([old], now: 0)
            let other = Revocation(
                serial: String(repeating: "b", count: 30), until: ahead + 90 * day, time: ahead, name: "b")
            ledger.revoke([other], now: ahead)
            #expect(ledger.revoked == [old, other])
            let again = Ledger(accounts: "", passwords: "", revoked: ledger.revokedLines, invitations: [:])
            #expect(again.revoked == ledger.revoked)
        }
    }

    @Test func revocationsAreForgottenInTheirOrderWhereThereAreVeryMany() {
        let day = 86_400
        func some(_ count: Int, _ first: Int, until: Int) -> [Revocation] {
            (first..<first + count).map { number in
                let digits = String(number, radix: 16)
                let serial = String(repeating: "0", count: 30 - digits.count) + digits
                return Revocation(serial: serial, until: until, time: 0, name: "a")
            }
        }
        var ledger = Ledger()
        ledger.revoke(some(Revocation.most + 5, 0, until: 90 * day), now: 0)
        #expect(ledger.revoked.count == Revocation.most + 5)
        let later = Revocation.kept + 100 * day
        ledger.revoke(some(1, 9000, until: later + 90 * day), now: later)
        #expect(ledger.revoked.count == Revocation.most)
        #expect(ledger.revoked.first?.serial.hasSuffix("06") == true)
    }

    @Test func linesOfEarlierVersionsAreRead() {
        let line = "0123456789abcdef0123456789abcd 270225102030Z 261127102030Z attic"
        #expect(Revocation(line: line)?.line == line)
        #expect(Token(line: "abc 0123456789abcdef0123456789abcd attic")?.before == nil)
        let token = Token(line: "abc 0123456789abcdef0123456789abcd attic before: 1123456789abcdef0123456789abcd ../x")
        #expect(token?.before == ["1123456789abcdef0123456789abcd"])
        #expect(Token(line: "x ../../../etc/seismote-broker/tls/ca attic") == nil)
        #expect(Token(line: "") == nil)
    }

    @Test func anInvitationOfAClockThatWasAheadIsOver() {
        let now = 1_795_800_000
        #expect(!Invitation(name: "a", end: now + 9999 * 3600).isFromFuture(now))
        #expect(Invitation(name: "a", end: now + 1000 * 86_400).isFromFuture(now))
        let answer = Enrolment.enrol(
            Invitation(name: "a", end: now + 1000 * 86_400), hasJoined: false, token: nil, mark: "m", now: now,
            serial: "s")
        #expect(answer == .refused("this invitation has ended"))
    }

    /// An invitation as a state machine: each order of what may happen.
    @Test func aTokenIsForOneBoard() {
        let invitation = Invitation(name: "a", end: 100)
        func ask(_ mark: String, _ token: Token?, joined: Bool = false, at now: Int = 0) -> Enrolment.Answer {
            Enrolment.enrol(invitation, hasJoined: joined, token: token, mark: mark, now: now, serial: "new")
        }
        let bound = Token(mark: "one", serial: "new", name: "a")
        #expect(ask("one", nil) == .bind(bound))
        #expect(ask("one", bound) == .give(serial: "new"))
        // (It has it already, and only its answer was lost.)
        #expect(ask("one", bound, at: 200) == .give(serial: "new"))
        #expect(ask("two", bound) == .refused("this invitation was used by another board"))
        #expect(ask("one", nil, at: 100) == .refused("this invitation has ended"))
        #expect(ask("one", bound, joined: true) == .refused("this invitation is not known, or it was used"))
    }

    @Test func nobodyRenewsWhileItIsHeld() {
        let own = [(serial: "s", until: 100, mark: "one")]
        func ask(_ mark: String, held: Bool = false, own: [(serial: String, until: Int, mark: String)])
            -> Enrolment.Answer
        {
            Enrolment.renew(own: own, isHeld: held, mark: mark, now: 10, serial: "new")
        }
        #expect(ask("two", own: own) == .give(serial: "new"))
        #expect(ask("one", own: own) == .give(serial: "s"))
        guard case .refused = ask("one", held: true, own: own) else {
            Issue.record("renewed while its certificates are revoked")
            return
        }
        guard case .refused = ask("one", own: []) else {
            Issue.record("renewed without a certificate")
            return
        }
        // Those that have ended are none of the twenty.
        let many = (0..<20).map { (serial: "\($0)", until: 5, mark: "\($0)") }
        #expect(ask("two", own: many) == .give(serial: "new"))
        guard case .refused = ask("two", own: many.map { ($0.serial, 50, $0.mark) }) else {
            Issue.record("certificates without end")
            return
        }
    }

    @Test func rightsOfAStation() {
        let rights = Role.station.rights(of: "attic")
        #expect(rights.contains("topic read seismote/attic/state/#"))
        #expect(rights.contains("topic write seismote/attic/state/#"))
        #expect(!rights.contains { $0.contains("/+/") && $0.hasPrefix("topic write seismote") })
        #expect(
            Role.allCases.map(\.rawValue) == [
                "station", "viewer", "commander", "home-assistant", "network", "feed", "notify",
            ])
    }
}

/// One sender does not keep the service from the others.
@Suite struct RequestQueueTests {
    @Test func aFloodDoesNotStarveTheOthers() {
        var queue = RequestQueue()
        var (served, now) = ([String: Int](), 0.0)
        // A thousand messages a second of one, one of ten others in the tenth second; each answer takes 30 ms.
        for step in 0..<400 {
            for _ in 0..<30 { queue.put(topic: "renew/hostile/csr", payload: [1], size: 1) }
            if step == 300 {
                for board in 2...9 {
                    queue.put(topic: "enrol/\(String(repeating: "\(board)", count: 8))/csr", payload: [1], size: 1)
                }
            }
            if let request = queue.take(now: now) { served[request.sender, default: 0] += 1 }
            now += 0.03
        }
        #expect(served.count == 9)
        #expect(served["hostile", default: 0] <= Int(RequestQueue.burst + now * RequestQueue.rate) + 1)
    }

    @Test func theLastOfASenderCounts() {
        var queue = RequestQueue()
        for byte in UInt8(1)...60 { queue.put(topic: "renew/a/csr", payload: [byte], size: 1) }
        #expect(queue.take(now: 0)?.payload == [60])
        #expect(queue.take(now: 0) == nil)
        #expect(queue.isEmpty)
    }

    @Test func whatIsTooLargeIsKnownAsThat() {
        var queue = RequestQueue()
        queue.put(topic: "enrol/aaaaaaaa/csr", payload: [], size: 60_000)
        queue.put(topic: "renew/a/joined", payload: [], size: 60_000)
        queue.put(topic: "renew/../csr", payload: [1], size: 1)
        queue.put(topic: "enrol/short/csr", payload: [1], size: 1)
        queue.put(topic: "other/a/csr/x", payload: [1], size: 1)
        #expect(queue.take(now: 0) == .init(kind: .enrol, sender: "aaaaaaaa", payload: nil))
        #expect(queue.isEmpty)
    }

    @Test func whoHasNoBudgetLeftIsAnsweredLater() {
        var queue = RequestQueue()
        for _ in 0..<5 {
            queue.put(topic: "renew/a/csr", payload: [1], size: 1)
            #expect(queue.take(now: 0) != nil)
        }
        queue.put(topic: "renew/a/csr", payload: [7], size: 1)
        #expect(queue.take(now: 0) == nil)
        #expect(!queue.isEmpty)
        #expect(queue.take(now: 1)?.payload == [7])
    }
}

@Suite struct BrokerLogTests {
    @Test func anyClientIdentifier() {
        for client in ["old board", "x (p2, c1, k60, u'other').", "a: disconnected", "[1]", "] as z (p", "ä'"] {
            var log = BrokerLog()
            log.take("10: mosquitto version 2.0.11 starting")
            log.take("11: New connection from 127.0.0.1:4 on port 8884.")
            log.take("12: New client connected from 127.0.0.1:4 as \(client) (p2, c1, k60, u'attic').")
            #expect(log.connections == [.init(account: "attic", since: 12, client: client, port: 8884)])
            log.take("13: Client \(client) disconnected.")
            #expect(log.connections.isEmpty)
        }
    }

    /// As mosquitto 2.0.11 writes it at 2038-01-19T03:14:10Z.
    @Test func afterTheYear2038() {
        var log = BrokerLog()
        log.take("-2147483646: New client connected from 127.0.0.1:4 as board (p5, c1, k60, u'attic').")
        #expect(log.connections == [.init(account: "attic", since: 2_147_483_650, client: "board", port: 0)])
    }
}

@Suite struct SessionFileTests {
    private static func file(_ sessions: [(client: String, account: String, ends: Int, keeps: UInt32, port: UInt16)])
        -> [UInt8]
    {
        func big<T: FixedWidthInteger>(_ value: T) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
        var bytes: [UInt8] = [0, 0xb5, 0] + Array("mosquitto db".utf8) + [0, 0, 0, 0] + big(UInt32(6))
        bytes += big(UInt32(1)) + big(UInt32(3)) + [1, 2, 3]
        for one in sessions {
            var chunk = withUnsafeBytes(of: Int64(one.ends).littleEndian) { Array($0) } + big(one.keeps) + [0, 0]
            chunk +=
                big(UInt16(one.client.utf8.count)) + big(one.port) + big(UInt16(one.account.utf8.count)) + [0, 0, 0, 0]
            chunk += Array(one.client.utf8) + Array(one.account.utf8)
            bytes += big(UInt32(6)) + big(UInt32(chunk.count)) + chunk
        }
        return bytes
    }

    @Test func whoIsAwayIsInTheWay() throws {
        let bytes = Self.file([
            ("connected", "a", 1030, 30, 8884), ("away cert", "a", 1010, 30, 0), ("away known", "known", 1010, 30, 0),
            ("older", "known", 930, 30, 0), ("for ever", "a", 1, 0xffff_ffff, 0), ("clean", "a", 1, 0, 0),
        ])
        let all = try #require(SessionFile.sessions(bytes))
        #expect(all.map(\.client) == ["connected", "away cert", "away known", "older"])
        let away = SessionFile.inTheWay(all, written: 1000, started: 950) { $0 == "known" }
        #expect(away.map(\.client) == ["away cert", "older"])
        for length in 0..<bytes.count { _ = SessionFile.sessions(Array(bytes.prefix(length))) }
    }
}

import Testing

@testable import Feed

struct AccessTests {
    // By the crypt(3) of Debian, of the password "open sesame".
    private static let file = """
        # who may read
        bo:$2y$05$abcdefghijklmnopqrstuupx2xBUC4954936wVIjyyPHmUBFu0wCW

        five:$5$saltsalt$yrhPKxCqiWcCE9h0g86j6Ugz7SDFdFm.BjU.d8RaQnC
        six:$6$saltsalt$e/5XKibXPLqVcfjpD.ouauaJrAOL5V0uo80Lt7n7EbRdRiCx3HbQ90yjOHr.G0T.mx79PEMRy8nmtr0qSYhQp1
        yes:$y$j9T$saltsaltsalt$b1KPsJq/OEd.3MwEU9eWyKlNNoW3sAIZKTpBLLPjsR6

        """

    @Test(arguments: ["bo", "five", "six", "yes"])
    func knowsWhoseThePasswordIs(_ name: String) throws {
        let file = try AccountFile(Array(Self.file.utf8))
        #expect(file.count == 4)
        #expect(file.accepts(name, "open sesame"))
        for password in ["open sesam", "open sesame ", "", "Open sesame", "*", "open sesame\u{0}x"] {
            #expect(!file.accepts(name, password), "\(password)")
        }
        #expect(!file.accepts("nobody", "open sesame"))
    }

    /// As editors of Windows write it: a byte-order mark, and two characters at each end of a line.
    @Test func readsFilesOfOtherEditors() throws {
        let text = Self.file.split(separator: "\n").dropFirst().joined(separator: "\r\n")
        let file = try AccountFile([0xEF, 0xBB, 0xBF] + Array(text.utf8))
        #expect(file.count == 4 && file.accepts("bo", "open sesame"))
    }

    @Test(arguments: [
        ("ali", "line 1 is not NAME:HASH"), ("\n:x", "line 2 is not NAME:HASH"),
        ("ali:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "line 1: the hash of `ali` is not one of"),
        ("ali:secret", "line 1: the hash of `ali` is not one of"), ("ali:$apr1$a$b", "make it with `htpasswd -B`"),
    ])
    func saysWhichLineIsOfNoUse(_ text: String, _ words: String) {
        do throws(AccountFile.Problem) {
            _ = try AccountFile(Array(text.utf8))
            Issue.record("it was taken")
        } catch {
            #expect(error.message.contains(words), "\(error.message)")
        }
    }

    @Test func aPasswordThatWasRightIsRightForSomeMinutes() {
        var recent = RecentLogins()
        recent.add("ali", "open", at: 100)
        #expect(recent.knows("ali", "open", at: 399) && !recent.knows("ali", "open", at: 400))
        #expect(!recent.knows("ali", "Open", at: 101) && !recent.knows("al", "iopen", at: 101))
        recent.forget()
        #expect(!recent.knows("ali", "open", at: 101))
    }

    @Test func rangesOfAddresses() throws {
        let range = try #require(AddressRange("192.168.4.0/22"))
        #expect(range.contains("192.168.7.255") && !range.contains("192.168.8.0") && !range.contains("::1"))
        #expect(range.contains("::ffff:192.168.4.9"))
        let six = try #require(AddressRange("fd00::/8"))
        #expect(six.contains("fdff::1") && !six.contains("fe00::1") && !six.contains("10.0.0.1"))
        #expect(AddressRange("0.0.0.0/0")?.contains("9.9.9.9") == true)
        #expect(AddressRange("127.0.0.1")?.contains("127.0.0.2") == false)
        for text in ["", "a", "1.2.3", "1.2.3.4/33", "1.2.3.4/-1", "::1/129", "1.2.3.4/", "1.2.3.4/8/8", "fd00::/x"] {
            #expect(AddressRange(text) == nil, "\(text)")
        }
    }

    @Test(arguments: [
        ("203.0.113.9", "10.9.9.9", "203.0.113.9"),  // who is no proxy is not believed
        ("10.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("10.0.0.1", "6.6.6.6, 203.0.113.9, 10.0.0.2", "203.0.113.9"),
        ("10.0.0.1", "", "10.0.0.1"), ("10.0.0.1", "rubbish", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.9, rubbish, 10.0.0.2", "10.0.0.2"), ("10.0.0.1", " 2001:db8::7 ", "2001:db8::7"),
    ])
    func onlyTrustedProxiesAreBelieved(_ peer: String, _ forwarded: String, _ address: String) throws {
        let trusted = [try #require(AddressRange("10.0.0.0/8"))]
        #expect(RealAddress.of(peer: peer, forwarded: forwarded, trusted: trusted) == address)
    }

    @Test func readsTheLineOfAProxy() {
        let line = Array("PROXY TCP4 203.0.113.9 10.0.0.1 51000 18000\r\nHELLO".utf8)
        #expect(RealAddress.proxyLine(line) == .line(length: 45, address: "203.0.113.9"))
        for length in 0..<45 { #expect(RealAddress.proxyLine(Array(line.prefix(length))) == .partial, "\(length)") }
        #expect(RealAddress.proxyLine(Array("HELLO\r\n".utf8)) == .none)
        #expect(RealAddress.proxyLine(Array("PROXY UNKNOWN\r\n".utf8)) == .line(length: 15, address: nil))
        #expect(RealAddress.proxyLine(Array("PROXY TCP4 x y z\r\n".utf8)) == .line(length: 18, address: nil))
        #expect(RealAddress.proxyLine(Array("PROXY ".utf8) + [UInt8](repeating: 65, count: 200)) == .none)
    }

    @Test func readsBasicAuthorisation() throws {
        let login = try #require(AccessRules.basic("Basic YWxpOm9wZW46c2VzYW1l"))
        #expect(login.user == "ali" && login.password == "open:sesame")
        for header in ["", "Basic", "Bearer YWxpOm9wZW4=", "Basic YWxp", "Basic ! ", "Basic YTpi\t", "Basic YTo"] {
            #expect(AccessRules.basic(header) == nil, "\(header)")
        }
    }

    @Test func whoNeedsAnAccountAndWhereAPasswordMayBeSent() throws {
        var settings = FeedSettings()
        let open = AccessRules(settings)
        #expect(open.web("9.9.9.9", peer: "9.9.9.9", isEncrypted: false, authorization: nil) == .open)
        #expect(open.seedLink("9.9.9.9", peer: "9.9.9.9", isEncrypted: false) == .open)
        settings.accounts = "/etc/accounts"
        settings.withoutAccount = ["192.168.1.0/24"]
        settings.proxies = ["10.0.0.1"]
        let rules = AccessRules(settings)
        #expect(rules.seedLink("192.168.1.7", peer: "192.168.1.7", isEncrypted: false) == .open)
        #expect(rules.seedLink("9.9.9.9", peer: "9.9.9.9", isEncrypted: false) == .encryptedAccount)
        #expect(rules.seedLink("9.9.9.9", peer: "9.9.9.9", isEncrypted: true) == .account)
        #expect(rules.seedLink("9.9.9.9", peer: "10.0.0.1", isEncrypted: false) == .account)
        #expect(rules.seedLink("127.0.0.1", peer: "127.0.0.1", isEncrypted: false) == .account)
        let basic = "Basic YWxpOm9wZW4="
        func web(_ peer: String, _ isEncrypted: Bool, _ authorization: String?) -> AccessRules.Decision {
            rules.web("9.9.9.9", peer: peer, isEncrypted: isEncrypted, authorization: authorization)
        }
        #expect(web("9.9.9.9", true, basic) == .check(user: "ali", password: "open"))
        #expect(web("10.0.0.1", false, basic) == .check(user: "ali", password: "open"))
        #expect(
            web("9.9.9.9", false, basic)
                == .refused(403, "an account is needed, and passwords are taken over TLS only\n"))
        #expect(web("9.9.9.9", true, nil) == .refused(401, "an account is needed\n"))
        #expect(web("9.9.9.9", true, "Basic x") == .refused(401, "an account is needed\n"))
    }

    @Test func placesAreKeptForTheWebServices() {
        var places = Places(all: 10, ofAddress: 6, forWeb: 4)
        let streams = (0..<10).map { places.take("10.0.0.\($0)", isWeb: false) }
        #expect(streams == [true, true, true, true, true, true, false, false, false, false])
        let web = (0..<10).map { _ in places.take("9.9.9.9", isWeb: true) }
        #expect(web.filter { $0 }.count == 4 && places.taken == 10)
        places.give("10.0.0.1", isWeb: false)
        let (free, full) = (places.take("10.0.0.77", isWeb: false), places.take("10.0.0.78", isWeb: true))
        #expect(free && !full)
        var others = Places(all: 100, ofAddress: 2, forWeb: 100)
        let own = (0..<3).map { _ in others.take("1.1.1.1", isWeb: true) }
        #expect(own == [true, true, false])
        others.give("1.1.1.1", isWeb: true)
        let (again, proxied) = (others.take("1.1.1.1", isWeb: true), others.take("1.1.1.1", isWeb: true, isProxy: true))
        #expect(again && proxied)
        // Half of all is there for streams, whatever is kept.
        let stream = others.take("2.2.2.2", isWeb: false)
        #expect(stream)
    }

    @Test func theLargestOfTheLastSeconds() {
        var recent = RecentMaximum(seconds: 60)
        recent.add(5, at: 0)
        recent.add(2, at: 30)
        #expect(recent.maximum(at: 59) == 5 && recent.maximum(at: 70) == 2 && recent.maximum(at: 100) == 0)
    }

    @Test func whoHasMostGivesFirst() {
        #expect(FairShare.level([10, 20, 30], total: 60) == nil)
        #expect(FairShare.level([10, 20, 300], total: 60) == 30)
        #expect(FairShare.level([10, 100, 100], total: 60) == 25)
        #expect(FairShare.level([50, 50], total: 60) == 30)
        #expect(FairShare.level([5], total: 0) == 0)
        #expect(FairShare.level([], total: 0) == nil)
        // Nobody at or below an equal part gives, and what is left fits.
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            let uses = (0..<Int.random(in: 1..<20, using: &random)).map { _ in Int.random(in: 0..<1000, using: &random)
            }
            let total = Int.random(in: 0..<5000, using: &random)
            guard let level = FairShare.level(uses, total: total) else {
                #expect(uses.reduce(0, +) <= total)
                continue
            }
            let left = uses.map { min($0, level) }.reduce(0, +)
            #expect(level >= total / uses.count && left <= total && left > total - uses.count)
        }
    }
}

import Foundation
import Messages
import Testing

@testable import seismote_notify

@Suite struct CourierCommandTests {
    private static func notification(_ title: String, _ text: String = "", click: String = "") -> Notice {
        Notice(
            recipient: "a", key: "quake-1", edition: 1, title: title, text: text, priority: .urgent, click: click)
    }

    /// What every user of the machine can read has no secret in it.
    @Test func noSecretIsAnArgument() {
        let command = CourierCommand(
            Self.notification("T"), to: .ntfy(base: "https://ntfy.example", topic: "secret-topic", updates: false),
            token: "tk_secret")
        #expect(!command.arguments.contains { $0.contains("secret") })
        let input = String(decoding: command.input, as: UTF8.self)
        #expect(input.contains("Bearer tk_secret") && input.contains("secret-topic"))
    }

    /// Only a server that replaces messages is told which one it is, without a name of a station.
    @Test func theIdentityOfAMessage() throws {
        func input(_ key: String, updates: Bool) -> String {
            var notice = Self.notification("T")
            notice.key = key
            return String(
                decoding: CourierCommand(
                    notice, to: .ntfy(base: "https://ntfy.example", topic: "t", updates: updates), token: ""
                ).input, as: UTF8.self)
        }
        #expect(!input("alert/cellar/clock/1", updates: false).contains("sequence_id"))
        let first = input("alert/cellar/clock/1", updates: true)
        #expect(first.contains("sequence_id") && !first.contains("cellar"))
        #expect(first == input("alert/cellar/clock/1", updates: true))
        #expect(first != input("alert/cellar/clock/2", updates: true))
    }

    /// Quotes, backslashes and new lines of a text stay in its line of curl's configuration.
    @Test func aTextCannotLeaveItsPlace() throws {
        let evil = "a\"\nurl = \"https://evil.example\\\"\n\\n"
        let command = CourierCommand(
            Self.notification(evil, evil), to: .ntfy(base: "https://ntfy.example", topic: "t", updates: false),
            token: "")
        let lines = String(decoding: command.input, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 3)
        let data = try #require(lines.last?.dropFirst("data-raw = \"".count).dropLast())
        var plain = ""
        var isEscaped = false
        for character in data {
            if isEscaped {
                plain.append(character == "n" ? "\n" : character)
            } else if character != "\\" {
                plain.append(character)
            }
            isEscaped = !isEscaped && character == "\\"
        }
        let object = try #require(try JSONSerialization.jsonObject(with: Data(plain.utf8)) as? [String: Any])
        #expect(object["title"] as? String == evil && object["priority"] as? Int == 5)
    }

    /// A mail has one head: nothing of a title begins a new line of it.
    @Test func aMailHasOneHead() throws {
        for title in ["Shaking", "a\nBcc: evil@example.org", "Erdbeben in Köln"] {
            let command = CourierCommand(
                Self.notification(title, "text\nmore"), to: .mail(address: "me@example.org"), token: "")
            let parts = String(decoding: command.input, as: UTF8.self).components(separatedBy: "\n\n")
            let head = parts[0].split(separator: "\n")
            #expect(head.filter { $0.hasPrefix("Subject: ") }.count == 1 && !head.contains { $0.hasPrefix("Bcc") })
            #expect(head.count == 7 && parts[1] == "text\nmore\n")
        }
    }

    /// Tried for a day, with growing pauses.
    @Test func retriesEndAfterADay() {
        var (now, attempts): (Int64, Int) = (0, 0)
        while let next = RetryPolicy.next(first: 0, attempts: attempts + 1, now: now) {
            #expect(next > now)
            (now, attempts) = (next, attempts + 1)
        }
        // (The last attempt is within the last half hour.)
        #expect(now > 84_600_000_000_000 && now <= 86_400_000_000_000 && (50...60).contains(attempts))
        #expect(RetryPolicy.pause(after: 1) == 30_000_000_000 && RetryPolicy.pause(after: 1000) == 1_800_000_000_000)
    }
}

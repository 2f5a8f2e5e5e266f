import Messages
import Testing

@testable import Settings

/// Addresses: of brokers and of pages, by one check.
@Suite struct NetworkAddressTests {
    private static func accepts(_ yaml: String) -> Bool { (try? Settings.load(file: Array(yaml.utf8))) != nil }
    private static func page(_ text: String) -> Bool { accepts("mqtt: {home_assistant: {page: \"\(text)\"}}") }
    private static func uri(_ text: String) -> Bool { accepts("mqtt: {uri: \"\(text)\"}") }

    /// A defect: Home Assistant refuses these, and then has none of the station's entities.
    @Test(arguments: [
        "http:///dash", "http://broker.local:8o80/#/station/{id}", "http://[fe80::1", "http://broker.local:99999/",
        "http://?x",
        "http://:8080/", "http://", "https://#x", "http://broker.local:/", "http://broker.local:0/", "http://a:1:2/",
        "http://[]/",
        "http://[::1]x/", "http://[1.2.3.4]/", "http://[fe80::1%eth0]/", "http://fe80::1/", "http://a..b/",
        "http://-a/", "http://a-/",
        "http://.a/", "http://1.2.3/", "http://256.1.1.1/", "http://1.2.3.4.5/", "http://01.2.3.4/", "http://a b/",
        "http://a%20b/",
        "http://ä.local/", "http://a,b/", "http://[1:2:3:4:5:6:7:8:9]/", "http://[1::2::3]/", "http://[12345::]/",
        "http://[:1]/",
        "http://[1:]/", "HTTP://a/", "ftp://a/", "//a/", "a", "http:/a/", "http:a", "http://a\\\\b/",
    ]) func whatHomeAssistantRefusesIsRefusedHere(page: String) { #expect(!Self.page(page)) }

    @Test(arguments: [
        "", "http://broker.local:8080/#/station/{id}", "https://[fe80::1]/x", "http://a", "http://a/", "http://a?b",
        "http://a#b",
        "http://a:65535", "http://{id}.local/", "http://a_b.c-d/[x]", "https://1.2.3.4:8443/x?y=[1]", "http://[::]:80/",
        "http://[1:2:3:4:5:6:7:8]/", "http://[1:2:3:4:5:6:1.2.3.4]/", "http://[::ffff:1.2.3.4]/", "http://[1::8]/",
        "http://me:secret@a/",
        "http://a./", "http://1a.2b/",
    ]) func whatEverybodyTakesIsTaken(page: String) { #expect(Self.page(page)) }

    @Test(arguments: [
        ("mqtt://h", true), ("mqtts://[fe80::1%eth0]:8883", true), ("mqtt://[fe80::1%]", false),
        ("mqtt://1.2.3.4", true),
        ("mqtt://1.2.3", false), ("mqtt://a..b", false), ("mqtt://[::1]:1883", true), ("mqtt://[::g]", false),
        ("mqtt://fe80::1", false), ("mqtt://h:0", false), ("mqtt://h:000080", true), ("mqtt://h:", false),
        ("mqtt://u:p@h", false),
    ]) func brokers(uri: String, isGood: Bool) { #expect(Self.uri(uri) == isGood) }

    @Test(arguments: [
        ("ws://h:9001", "WebSockets"), ("wss://h/mqtt", "WebSockets"), ("tcp://h", "mqtt://"), ("ssl://h", "mqtts://"),
        ("MQTT://h", "small letters"), ("http://h", "mqtt://"),
    ]) func otherSchemesAreNamedWithWhatToWrite(uri: String, words: String) {
        do throws(CodedErrors) {
            _ = try Settings.load(file: Array("mqtt: {uri: \"\(uri)\"}".utf8))
            Issue.record("accepted: \(uri)")
        } catch { #expect(error.errors.first?.message.contains(words) == true) }
    }

    @Test(arguments: [
        ("mqtt: {username: \"${USER}\"}", false), ("station: {description: \"a ${X:-y} b\"}", false),
        ("mqtt: {password: \"${\"}", true), ("station: {description: \"$5 {x} ${} ${1} $X\"}", true),
    ]) func variablesAreNotTakenLiterally(yaml: String, isGood: Bool) { #expect(Self.accepts(yaml) == isGood) }

    /// A defect: the zone of a URI as RFC 6874 writes it was looked up as it stood there.
    @Test(arguments: [
        ("[fe80::1%25eth0]", "fe80::1%eth0"), ("[fe80::1%eth0]", "fe80::1%eth0"), ("[fe80::1%25]", "fe80::1%25"),
    ]) func aZoneIsWrittenInTwoWays(text: String, host: String) throws {
        #expect(try NetworkAddress(Substring(text), allowsZone: true).host == host)
    }

    /// A defect: a settings file of Windows' editors was no YAML from its second line on.
    @Test func aByteOrderMarkIsNoPartOfTheSettings() throws {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        for text in [
            "station: {id: a}\nmqtt: {uri: \"mqtt://h:1\"}\n", "station:\r\n  id: a\r\nmqtt:\r\n  uri: mqtt://h:1\r\n",
        ] {
            let read = try Settings.load(file: mark + Array(text.utf8)).configuration
            #expect(read.station.id == "a" && read.mqtt.uris == ["mqtt://h:1"])
        }
    }

    @Test func homeAssistantsBirthTopicIsItsOwn() throws {
        let plain = try Settings.load(file: Array("mqtt: {home_assistant: {prefix: ha}}".utf8)).configuration
        #expect(plain.mqtt.homeAssistant.birth == "ha/status")
        let other = try Settings.load(file: Array("mqtt: {home_assistant: {birth_topic: hass/birth}}".utf8))
            .configuration
        #expect(other.mqtt.homeAssistant.birth == "hass/birth")
    }
}

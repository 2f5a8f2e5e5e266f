import Testing
import Values

/// Bytes as text: base64, hexadecimal digits, addresses.
@Suite struct ByteTextsTests {
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"), ("\u{3ff}\u{fff}", "z7/gv78="),
    ])
    func base64(plain: String, text: String) {
        #expect(Base64.text(Array(plain.utf8)) == text)
        #expect(
            Base64.bytes(text.utf8) == Array(plain.utf8) && Base64.bytes(text.utf8, isStrict: true) == Array(plain.utf8)
        )
    }

    @Test(arguments: ["Z", "Zm9v!", "Zg==Zg==", "Zm9vY", "Zm-_"])
    func noBase64(text: String) {
        #expect(Base64.bytes(text.utf8) == nil && Base64.bytes(text.utf8, isStrict: true) == nil)
    }

    @Test(arguments: [("Zg", "f"), ("Zg=", "f"), ("Zg===", "f"), ("Zm8", "fo"), ("Zm9v=", "foo"), ("Zm\n9v\t", "foo")])
    func onlyLooseBase64(text: String, plain: String) {
        #expect(Base64.bytes(text.utf8) == Array(plain.utf8) && Base64.bytes(text.utf8, isStrict: true) == nil)
    }

    @Test func hexadecimal() {
        #expect(Hexadecimal.text([0, 0x0f, 0xa0, 0xff] as [UInt8]) == "000fa0ff")
        let values = "09afAF".utf8.map { Hexadecimal.value($0) }
        #expect(values == [0, 9, 10, 15, 10, 15])
        for letter in "/:@G`g ".utf8 { #expect(Hexadecimal.value(letter) == nil) }
        #expect(Hexadecimal.bytes("".utf8) == [])
        #expect(Hexadecimal.bytes("000fA0ff".utf8) == [0, 0x0f, 0xa0, 0xff])
        for text in ["0", "000", "0g", "g0", " 00"] { #expect(Hexadecimal.bytes(text.utf8) == nil, "\(text)") }
    }

    @Test func addresses() {
        #expect(IPAddress.bytes("192.168.1.9") == [192, 168, 1, 9])
        #expect(IPAddress.bytes("fd00::2") == [0xfd] + [UInt8](repeating: 0, count: 14) + [2])
        for text in ["", "1.2.3", "1.2.3.256", "localhost", "[::1]", "fe80::1%eth0", "::1 "] {
            #expect(IPAddress.bytes(text) == nil, "\(text)")
        }
    }
}

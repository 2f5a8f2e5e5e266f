import Glibc
import Testing

@testable import Administration

@Suite struct ShellWordTests {
    /// What a shell makes of a word is the text again, whatever stands in it.
    @Test(arguments: [
        "", "a", "it's", "a b", "$HOME", "`id`", "*", "~", "\"", "\\", "a\nb", "#", "é", "user@host", "-x", "a;b", "''",
        "a/b.c:d_e+f-g", "&", "|", "(x)", "!", "%", "=",
    ])
    func aShellReadsTheTextAgain(_ text: String) {
        for word in [shellWord(text), shellWord(text, plain: "@")] {
            #expect(ChildProgram(["sh", "-c", "printf %s \(word)"])?.text == text, "\(word)")
        }
    }

    @Test func plainWordsStayAsTheyAre() {
        #expect(shellWord("seismote/base-1/state:a.b+c_D") == "seismote/base-1/state:a.b+c_D")
        #expect(shellWord("a@b") == "'a@b'" && shellWord("a@b", plain: "@") == "a@b")
        #expect(shellWord("it's") == #"'it'\''s'"# && shellWord("") == "''")
    }
}

import Foundation
import TestSupport
import Testing

@testable import Administration

@Suite struct ChildProgramTests {
    @Test func outputErrorsAndStatus() throws {
        let run = try #require(ChildProgram(["sh", "-c", "cat; echo bad >&2; exit 3"], input: Array("words".utf8)))
        #expect(run.text == "words" && run.errorText == "bad\n" && run.status == 3 && !run.isDone)
        #expect(ChildProgram(["true"])?.isDone == true)
        let killed = try #require(ChildProgram(["sh", "-c", "kill -9 $$"]))
        #expect(killed.status == nil && !killed.isDone)
        #expect(ChildProgram(["/nonexistent/program"]) == nil && ChildProgram([]) == nil)
    }

    /// More than two pipes hold goes in and comes back.
    @Test func muchInAndOut() throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        #expect(try #require(ChildProgram(["cat"], input: bytes)).output == bytes)
    }

    @Test func theTimeLimitAndWhatItHasStarted() throws {
        let start = Date()
        let run = try #require(ChildProgram(["sleep", "60"], seconds: 0.2))
        #expect(run.status == nil && Date().timeIntervalSince(start) < 30)
        #expect(try #require(ChildProgram(["sleep", "60"], isCancelled: { true })).status == nil)
    }

    /// What we ignore or block, it does not; a pipe of another program it has not.
    @Test func signalsAndFilesAreItsOwn() throws {
        _ = signal(SIGPIPE, SIG_IGN)
        let other = try #require(ProgramStart.pipe())
        defer { for end in other { close(end) } }
        let words = "grep -E 'SigIgn|SigBlk' /proc/self/status; ls -l /proc/$$/fd"
        let lines = try #require(ChildProgram(["sh", "-c", words])).text.split(separator: "\n").map(String.init)
        for line in lines.prefix(2) {
            let mask = try #require(UInt64(line.split(separator: "\t").last ?? "", radix: 16))
            for number in [SIGPIPE, SIGTERM, SIGINT] { #expect(mask >> UInt64(number - 1) & 1 == 0, "\(line)") }
        }
        var facts = stat()
        try #require(fstat(other[0], &facts) == 0)
        let pipe = "pipe:[\(facts.st_ino)]"
        #expect(lines.count > 4 && !lines.contains { $0.contains(pipe) }, "\(lines)")
    }

    @Test func filesOfTheCaller() throws {
        let folder = try TemporaryFolder()
        let file = open(folder.path("out"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        let run = try #require(ChildProgram(["sh", "-c", "echo words"], files: (nil, file, nil)))
        close(file)
        let written = try String(contentsOfFile: folder.path("out"), encoding: .utf8)
        #expect(run.output.isEmpty && written == "words\n")
    }

    /// Only what is given stands in the environment, and a signal reaches all that it has started.
    @Test func environmentAndGroup() throws {
        let (said, input) = (try #require(ProgramStart.pipe()), try #require(ProgramStart.pipe()))
        defer { for end in [said[0], input[1]] { close(end) } }
        var id = pid_t()
        let words = ["sh", "-c", "echo $ONE-$HOME; sleep 60 & sleep 60"]
        let code = ProgramStart.start(
            "sh", words, files: [input[0], said[1], said[1]], environment: ["ONE=1", "PATH=/usr/bin:/bin"],
            isGroup: true, id: &id)
        for end in [input[0], said[1]] { close(end) }
        #expect(code == 0 && id > 0 && getpgid(id) == id)
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = read(said[0], &bytes, 100)
        #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == "1-\n")
        kill(-id, SIGKILL)
        var status: Int32 = 0
        #expect(waitpid(id, &status, 0) == id && status & 0x7f == SIGKILL)
        // The end of the pipe: nobody has it any more.
        #expect(read(said[0], &bytes, 100) == 0)
    }

    @Test func whatIsNotThereIsNotStarted() {
        var id = pid_t()
        #expect(ProgramStart.start("seismote-none", ["seismote-none"], files: [0, 1, 2], id: &id) == ENOENT && id == 0)
    }
}

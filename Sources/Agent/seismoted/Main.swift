import Agent
import Glibc
import Platform

// An `@main` type and not top-level code: that would run on the main actor, where a closure that is handed to C as a
// callback compiles clean and dies with SIGILL on another thread.
@main struct Main {
    static func main() {
        ProgramOutput.begin()
        exit(Program.run(Array(ProgramArguments.all.dropFirst())))
    }
}

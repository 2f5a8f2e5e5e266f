import Glibc
import Platform

/// Reason why a command ends: exit status and words.
package struct Failure: Error {
    package var status = ExitStatus.fault
    package var words: String

    package init(_ words: String) { self.words = words }
}

/// Prints a line.
package func say(_ words: String) {
    print(words)
}

/// Prints a line for people, beside the output.
package func note(_ words: String) {
    fflush(nil)
    ProgramOutput.printError(words)
}

/// Seconds since 1970.
package func wallSeconds() -> Int { Int(HostClock.wall() / 1_000_000_000) }

package func pause(_ seconds: Double) { usleep(UInt32(seconds * 1e6)) }

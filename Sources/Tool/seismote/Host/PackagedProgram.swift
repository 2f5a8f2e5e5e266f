import ArgumentParser
import Glibc

/// Programs of packages of their own, which commands of this one stand for.
enum PackagedProgram {
    /// Becomes another program: the one that lies beside this, or the one in `PATH`.
    /// - Parameters:
    ///   - program: its name.
    ///   - arguments: what follows the name.
    /// - Returns: why that cannot be; otherwise it does not come back.
    static func become(_ program: String, _ arguments: [String] = []) -> String {
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
        words.append(nil)
        defer { words.forEach { free($0) } }
        for path in [beside(program), program].compactMap(\.self) { execvp(path, &words) }
        return "the program \(program) cannot be run: \(String(cString: strerror(errno))). "
            + "It is in the package \(program): apt install \(program)"
    }

    private static func beside(_ program: String) -> String? {
        var path = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &path, path.count - 1)
        guard count > 0 else { return nil }
        let own = String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return own.lastIndex(of: "/").map { own[...$0] + program }
    }
}

/// `seismote feed`: runs the server, which is a program and a package of its own.
struct FeedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed", abstract: "Serve stations by SeedLink, FDSN web services and /metrics.",
        discussion: """
            seismote feed --broker mqtts://broker.local:8883 --listen 0.0.0.0

            Runs the program seismote-feed, which the package of the same name brings, with the options that follow: see \
            `seismote-feed --help`.
            """)

    @Argument(parsing: .captureForPassthrough, help: "Options of seismote-feed.")
    var options: [String] = []

    func run() throws { try ctl { try start() } }

    /// Does not come back unless the program cannot be run.
    private func start() throws -> CtlStatus {
        throw CtlError(status: .files, PackagedProgram.become("seismote-feed", options))
    }
}

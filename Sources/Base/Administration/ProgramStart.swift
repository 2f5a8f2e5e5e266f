import Glibc

/// The start of another program with a list of arguments. No shell is between.
package enum ProgramStart {
    /// A pipe that no other program inherits; nil: `errno` says why there is none.
    package static func pipe() -> [Int32]? {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return ends
    }

    /// - Parameters:
    ///   - name: its path, or its name in PATH.
    ///   - words: its own name, and its arguments.
    ///   - files: its input, its output and its errors.
    ///   - environment: nil: ours.
    ///   - isGroup: whether a signal to -`id` goes to it and to all that it starts.
    /// - Returns: 0, or the code of the error.
    package static func start(
        _ name: String, _ words: [String], files: [Int32], environment given: [String]? = nil, isGroup: Bool = false,
        id: inout pid_t
    ) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (i, file) in files.enumerated() { posix_spawn_file_actions_adddup2(&actions, file, Int32(i)) }
        // (What we ignore, such as SIGPIPE, others need.)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGPIPE, SIGTERM, SIGINT] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let group = isGroup ? POSIX_SPAWN_SETPGROUP : 0
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | group))
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] = (given ?? []).map { strdup($0) } + [nil]
        defer { for text in arguments + environment { free(text) } }
        guard given != nil else { return posix_spawnp(&id, name, &actions, &attributes, &arguments, environ) }
        return posix_spawnp(&id, name, &actions, &attributes, &arguments, &environment)
    }
}

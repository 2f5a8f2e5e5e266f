import Administration
import Glibc

/// Files of the broker: each is the old one or the new one, whole, whenever the power goes.
extension Disk {
    /// Owner of a file.
    enum Owner {
        /// Root's alone.
        case root
        /// The broker's: mosquitto wants passwords and rights to be its own. (It can write none of them, /etc being closed to it.)
        case broker
        /// Root's, and the service of the certificates may read it.
        case enrolment
    }

    /// Replaces a file.
    static func replace(_ path: String, _ text: String, mode: mode_t = 0o600, owner: Owner = .broker) throws(Failure) {
        try replace([(path, text)], mode: mode, owner: owner)
    }

    /// Replaces files of one folder, each by itself. (Many are brought to the disk at once.)
    static func replace(
        _ files: [(path: String, text: String)], mode: mode_t = 0o600, owner: Owner = .broker
    ) throws(Failure) {
        for (path, text) in files {
            try write(path + ".writing", Array(text.utf8), mode, owner, isSynced: files.count < 16)
        }
        if files.count >= 16 { sync() }
        for (path, _) in files where rename(path + ".writing", path) != 0 { throw failure("rename", path) }
        if let path = files.first?.path { syncFolder(of: path) }
    }

    private static func write(
        _ path: String, _ bytes: [UInt8], _ mode: mode_t, _ owner: Owner, isSynced: Bool
    ) throws(Failure) {
        try write(path, bytes, mode: owner == .enrolment ? mode | 0o040 : mode, isSynced: isSynced) {
            (file: Int32) throws(Failure) in try give(file, path, owner)
        }
    }

    /// Makes a file or folder that is open somebody's, where we are root and they are there.
    private static func give(_ file: Int32, _ path: String, _ owner: Owner) throws(Failure) {
        guard geteuid() == 0 else { return }
        switch owner {
        case .root: return
        case .broker:
            guard let user = getpwnam("seismote-broker")?.pointee else { return }
            guard fchown(file, user.pw_uid, user.pw_gid) == 0 else { throw failure("chown", path) }
        case .enrolment:
            guard let group = getgrnam("seismote-enrol")?.pointee else { return }
            guard fchown(file, 0, group.gr_gid) == 0 else { throw failure("chown", path) }
        }
    }

    /// Makes a folder where there is none, with this mode in any case.
    static func makeFolder(_ path: String, mode: mode_t, owner: Owner = .root) throws(Failure) {
        if mkdir(path, mode) != 0, errno != EEXIST { throw failure("mkdir", path) }
        let file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw failure("open", path) }
        defer { close(file) }
        guard fchmod(file, mode) == 0 else { throw failure("chmod", path) }
        try give(file, path, owner)
    }
}

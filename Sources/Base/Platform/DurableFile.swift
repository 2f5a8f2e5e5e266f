import Glibc
import Values

/// A file of the storage directory, such as the one that keeps the ledger of settings over restarts. Whenever the power
/// goes, it is the old one or the new one, whole.
public struct DurableFile: Sendable {
    public let directory: String
    private let files: any FileLayer
    public let name: String
    private let isPublic: Bool
    private let keepsFormer: Bool

    public var path: String { directory + "/" + name }
    /// The file as it was before the last write.
    public var formerPath: String { path + ".before" }
    private var newPath: String { path + ".new" }

    /// - Parameters:
    ///   - isPublic: anyone may read the file, not only its owner.
    ///   - keepsFormer: the file before the last write stays as ``formerPath``.
    public init(
        directory: String, name: String, isPublic: Bool = false, keepsFormer: Bool = false,
        files: any FileLayer = SystemFiles()
    ) {
        self.directory = directory
        self.name = name
        self.isPublic = isPublic
        self.keepsFormer = keepsFormer
        self.files = files
    }

    /// Replaces the file.
    ///
    /// - Throws: then the file is the old one, or the new one when even that could not be found out.
    public func write(_ document: Value) throws(FileError) { try write(document.json()) }

    public func write(_ bytes: [UInt8]) throws(FileError) {
        _ = mkdir(directory, 0o750)
        let folder = try files.openFolder(directory)
        do throws(FileError) {
            do throws(FileError) { try files.remove(newPath) } catch { try moveAside(newPath, error) }
            try fill(try files.create(newPath), bytes)
            // (Without it the file is written all the same: not every file system knows two names of one file.)
            if keepsFormer { try? files.keep(path, as: formerPath) }
            do throws(FileError) { try files.rename(newPath, to: path) } catch {
                try moveAside(path, error)
                try files.rename(newPath, to: path)
            }
            try files.sync(folder)
        } catch {
            try? files.close(folder)
            throw error
        }
        try? files.close(folder)
    }

    private func fill(_ file: Int32, _ bytes: [UInt8]) throws(FileError) {
        do throws(FileError) {
            try files.fill(file, bytes)
            if isPublic { fchmod(file, 0o644) }
            try files.sync(file)
        } catch {
            try? files.close(file)
            throw error
        }
        try files.close(file)
    }

    /// Puts a file that cannot be read out of the way; the one before it, where it is kept, takes its place.
    public func setAside() {
        do throws(FileError) { try files.rename(path, to: path + ".damaged") } catch { try? moveAside(path, error) }
        if keepsFormer { try? files.keep(formerPath, as: path) }
    }

    /// Puts a folder that stands in the way of a file beside it, under a name that nothing has.
    /// - Parameter error: what the folder has caused; thrown when it is no folder that did.
    private func moveAside(_ path: String, _ error: FileError) throws(FileError) {
        guard [EISDIR, EPERM, ENOTDIR, EEXIST, ENOTEMPTY].contains(error.code), files.isFolder(path) else {
            throw error
        }
        var last = error
        for number in 1...9 {
            let name = "\(path).damaged-\(number)"
            guard !files.isFolder(name) else { continue }
            do throws(FileError) { return try files.rename(path, to: name) } catch { last = error }
        }
        throw last
    }
}

/// A system call on a file that failed.
public struct FileError: Error, Sendable, Equatable {
    /// Call that failed, such as `write`.
    public var call: String
    public var path: String
    public var code: Int32

    public init(call: String, path: String, code: Int32) { (self.call, self.path, self.code) = (call, path, code) }

    public var message: String { "\(call) \(path): \(String(cString: strerror(code)))" }
}

/// The system calls with which a file is replaced; tests break them, and forget what was not made durable.
public protocol FileLayer: Sendable {
    /// A folder, for `sync`.
    func openFolder(_ path: String) throws(FileError) -> Int32
    /// Removes a file; it is no error when there is none.
    func remove(_ path: String) throws(FileError)
    /// A new file that only its owner may read (mode 0600).
    func create(_ path: String) throws(FileError) -> Int32
    /// - Returns: how many bytes were taken, at least one.
    func write(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) throws(FileError) -> Int
    func sync(_ descriptor: Int32) throws(FileError)
    func close(_ descriptor: Int32) throws(FileError)
    func rename(_ path: String, to target: String) throws(FileError)
    /// Gives a file a second name, in place of what has that name; it is no error when there is no file.
    func keep(_ path: String, as target: String) throws(FileError)
    /// Whether there is a folder where a file should be.
    func isFolder(_ path: String) -> Bool
}

extension FileLayer {
    public func fill(_ descriptor: Int32, _ bytes: [UInt8]) throws(FileError) {
        var rest = bytes[...]
        while !rest.isEmpty { rest = rest.dropFirst(try write(descriptor, rest)) }
    }
}

/// The system's own.
public struct SystemFiles: FileLayer {
    public init() {}

    public func openFolder(_ path: String) throws(FileError) -> Int32 {
        try checked("open", path, Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    }

    public func remove(_ path: String) throws(FileError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw FileError(call: "unlink", path: path, code: errno) }
    }

    public func create(_ path: String) throws(FileError) -> Int32 {
        try checked("open", path, Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600))
    }

    public func write(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) throws(FileError) -> Int {
        while true {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 { return count }
            guard count < 0, errno == EINTR else { throw FileError(call: "write", path: "", code: errno) }
        }
    }

    public func sync(_ descriptor: Int32) throws(FileError) { _ = try checked("fsync", "", fsync(descriptor)) }

    public func close(_ descriptor: Int32) throws(FileError) { _ = try checked("close", "", Glibc.close(descriptor)) }

    public func rename(_ path: String, to target: String) throws(FileError) {
        _ = try checked("rename", path, Glibc.rename(path, target))
    }

    public func keep(_ path: String, as target: String) throws(FileError) {
        let spare = target + ".new"
        try remove(spare)
        guard link(path, spare) == 0 else {
            if errno == ENOENT { return }
            throw FileError(call: "link", path: path, code: errno)
        }
        // (Of two names of one file `rename` leaves both.)
        defer { unlink(spare) }
        try rename(spare, to: target)
    }

    public func isFolder(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private func checked(_ call: String, _ path: String, _ result: Int32) throws(FileError) -> Int32 {
        guard result >= 0 else { throw FileError(call: call, path: path, code: errno) }
        return result
    }
}

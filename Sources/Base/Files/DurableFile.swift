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

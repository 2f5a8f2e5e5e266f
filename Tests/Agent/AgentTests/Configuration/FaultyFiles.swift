import Glibc
import Platform
import Settings
import TestSupport

@testable import Agent

/// A folder in memory that forgets, when the power goes, what was not made durable; and whose calls fail when asked.
///
/// As a file system may: after a crash a file that was not synchronised has any beginning of what was written, and a
/// folder that was not synchronised has any number of its changes, in their order.
final class FaultyFiles: FileLayer {
    struct File {
        var bytes: [UInt8] = []
        var isSynchronised = true
    }
    enum Change {
        case add(String, Int)
        case remove(String)
        case rename(String, String)
    }
    enum Fault: Equatable {
        /// The call fails with this error, and those after it work.
        case error(Int32)
        /// The process ends before the call: nothing after it happens.
        case death
        /// A write takes half of it, then the process ends.
        case tornDeath
    }

    struct State {
        var files: [File] = []
        var names: [String: Int] = [:]
        var durableNames: [String: Int] = [:]
        var waiting: [Change] = []
        var calls = 0
        var fault: (call: Int, fault: Fault)?
        var isDead = false
    }

    /// The descriptor of the folder; those of files are their numbers, of which there may be thousands.
    private static let folder = Int32.max

    let state = Mutex(State())

    /// - Parameter call: how many calls go well before.
    func plan(_ fault: Fault?, after call: Int) {
        state.withLock { state in
            state.calls = 0
            state.fault = fault.map { (call: call, fault: $0) }
        }
    }

    var calls: Int { state.withLock { $0.calls } }

    /// What the next process finds at a path. With a power cut, what was not durable is torn at random.
    func restart(powerCut: Bool, _ random: inout SeededGenerator) {
        let (cut, keep) = (UInt64.random(in: 0..<1 << 32, using: &random), Int.random(in: 0...8, using: &random))
        state.withLock { state in
            state.isDead = false
            state.fault = nil
            guard powerCut else {
                // The system lives on, and writes all of it in its own time.
                state.durableNames = state.names
                state.waiting = []
                for i in state.files.indices { state.files[i].isSynchronised = true }
                return
            }
            for change in state.waiting.prefix(keep) { Self.apply(change, &state.durableNames) }
            state.names = state.durableNames
            state.waiting = []
            for i in state.files.indices where !state.files[i].isSynchronised {
                state.files[i].bytes = Array(
                    state.files[i].bytes.prefix(Int(cut % UInt64(state.files[i].bytes.count + 1))))
                state.files[i].isSynchronised = true
            }
        }
    }

    func contents(_ path: String) -> [UInt8]? {
        state.withLock { state in state.names[path].map { state.files[$0].bytes } }
    }

    private static func apply(_ change: Change, _ names: inout [String: Int]) {
        switch change {
        case .add(let name, let file): names[name] = file
        case .remove(let name): names[name] = nil
        case .rename(let name, let target):
            names[target] = names[name]
            names[name] = nil
        }
    }

    /// Counts a call, and fails it when its turn has come. True: the write is to be torn.
    private func enter(_ call: String, _ state: inout State) throws(FileError) -> Bool {
        if state.isDead { throw FileError(call: call, path: "", code: EOWNERDEAD) }
        state.calls += 1
        guard let (number, fault) = state.fault, state.calls == number + 1 else { return false }
        switch fault {
        case .error(let code): throw FileError(call: call, path: "", code: code)
        case .death:
            state.isDead = true
            throw FileError(call: call, path: "", code: EOWNERDEAD)
        case .tornDeath:
            state.isDead = true
            if call == "write" { return true }
            throw FileError(call: call, path: "", code: EOWNERDEAD)
        }
    }

    private func with<T: Sendable>(
        _ call: String, _ body: (inout State, Bool) -> Result<T, FileError>
    ) throws(FileError) -> T {
        let result: Result<T, FileError> = state.withLock { state in
            do throws(FileError) {
                let isTorn = try enter(call, &state)
                return body(&state, isTorn)
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    func openFolder(_ path: String) throws(FileError) -> Int32 { try with("open") { _, _ in .success(Self.folder) } }

    func remove(_ path: String) throws(FileError) {
        _ = try with("unlink") { state, _ -> Result<Bool, FileError> in
            guard state.names[path] != nil else { return .success(true) }
            Self.apply(.remove(path), &state.names)
            state.waiting.append(.remove(path))
            return .success(true)
        }
    }

    func create(_ path: String) throws(FileError) -> Int32 {
        try with("open") { state, _ in
            guard state.names[path] == nil else { return .failure(FileError(call: "open", path: path, code: EEXIST)) }
            state.files.append(File())
            let file = state.files.count - 1
            Self.apply(.add(path, file), &state.names)
            state.waiting.append(.add(path, file))
            return .success(Int32(file))
        }
    }

    func write(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) throws(FileError) -> Int {
        try with("write") { state, isTorn in
            let count = isTorn ? bytes.count / 2 : min(bytes.count, 4000)
            state.files[Int(descriptor)].bytes += bytes.prefix(count)
            state.files[Int(descriptor)].isSynchronised = false
            return isTorn ? .failure(FileError(call: "write", path: "", code: EOWNERDEAD)) : .success(count)
        }
    }

    func sync(_ descriptor: Int32) throws(FileError) {
        _ = try with("fsync") { state, _ -> Result<Bool, FileError> in
            if descriptor == Self.folder {
                state.durableNames = state.names
                state.waiting = []
            } else {
                state.files[Int(descriptor)].isSynchronised = true
            }
            return .success(true)
        }
    }

    func isFolder(_ path: String) -> Bool { false }

    func close(_ descriptor: Int32) throws(FileError) { _ = try with("close") { _, _ in .success(true) } }

    func keep(_ path: String, as target: String) throws(FileError) {
        _ = try with("link") { state, _ -> Result<Bool, FileError> in
            guard let file = state.names[path] else { return .success(true) }
            Self.apply(.add(target, file), &state.names)
            state.waiting.append(.add(target, file))
            return .success(true)
        }
    }

    func rename(_ path: String, to target: String) throws(FileError) {
        _ = try with("rename") { state, _ -> Result<Bool, FileError> in
            guard state.names[path] != nil else { return .failure(FileError(call: "rename", path: path, code: ENOENT)) }
            Self.apply(.rename(path, target), &state.names)
            state.waiting.append(.rename(path, target))
            return .success(true)
        }
    }
}

import Values

/// A text as one word of a command for a shell: what others have named may hold anything.
/// - Parameter others: signs that need no quotes either.
package func shellWord(_ text: String, plain others: String = "") -> String {
    let isPlain = text.isMade(1...(.max)) {
        $0.isAlphanumeric || "+-./:_".utf8.contains($0) || others.utf8.contains($0)
    }
    return isPlain
        ? text : "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}

extension String {
    /// Whether another text is in this one, byte for byte. `contains` with a text would link the engine of regular
    /// expressions into the agent: 1.2 MB for a few questions.
    package func hasText(_ other: String) -> Bool {
        let (text, wanted) = (Array(utf8), Array(other.utf8))
        guard wanted.count <= text.count else { return false }
        return (0...text.count - wanted.count).contains { text[$0..<$0 + wanted.count] == wanted[...] }
    }
}

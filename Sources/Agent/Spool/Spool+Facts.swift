/// Small things that others want to find again after a restart.
extension Spool {
    /// The bytes under a name.
    public mutating func fact(_ name: String) throws(SpoolError) -> [UInt8]? {
        do throws(SpoolError) { return try database.fact(name) } catch { throw undo(error) }
    }

    /// Puts bytes under a name; nil takes the name away. Names that begin with `spool.` are the spool's own.
    public mutating func setFact(_ name: String, _ value: [UInt8]?) throws(SpoolError) {
        do throws(SpoolError) {
            try begin()
            try database.set(name, value)
        } catch { throw undo(error) }
    }

    /// All names with a beginning, in order.
    public mutating func facts(beginningWith prefix: String) throws(SpoolError) -> [String] {
        var names: [String] = []
        do throws(SpoolError) {
            let row = try database.use(.factNames)
            while try row.step() {
                let name = row.text(0)
                if name.utf8.starts(with: prefix.utf8) { names.append(name) }
            }
        } catch { throw undo(error) }
        return names
    }
}

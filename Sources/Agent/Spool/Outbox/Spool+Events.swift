import Messages

/// An event whose end was never written.
public struct UnfinishedEvent: Sendable, Equatable {
    public var id: String
    /// Its newest onset or update.
    public var trigger: StoredMessage
}

extension Spool {
    /// Events with an onset or an update and without an end after it, delivered or not, the oldest first: for the one who
    /// closes them after a kill. (A recording that is played again gives its events the same ids.)
    public mutating func unfinishedEvents() throws(SpoolError) -> [UnfinishedEvent] {
        var ids: [(id: String, ended: Int64)] = []
        do throws(SpoolError) {
            let row = try database.use(.unfinished)
            while try row.step() { ids.append((row.text(0), row.int64(1))) }
        } catch { throw undo(error) }
        var events: [UnfinishedEvent] = []
        for (id, ended) in ids {
            if let trigger = try newestTrigger(of: id, after: ended) {
                events.append(UnfinishedEvent(id: id, trigger: trigger))
            }
        }
        return events
    }

    private mutating func newestTrigger(of id: String, after ended: Int64) throws(SpoolError) -> StoredMessage? {
        var before = Int64.max
        while true {
            do throws(SpoolError) {
                let row = try database.use(.newestTrigger)
                row.bind(1, id)
                row.bind(2, before)
                row.bind(3, ended)
                guard try row.step() else { return nil }
                if let message = StoredMessage(row) { return message }
                before = row.int64(0)
            } catch { throw undo(error) }
        }
    }

    /// Hands out the messages of an event's waveform in their order, one at a time: those after its last end.
    public mutating func forEachWaveform(
        of event: String, _ body: (StoredMessage) -> Void
    ) throws(SpoolError) {
        do throws(SpoolError) {
            let row = try database.use(.waveforms)
            row.bind(1, event)
            while try row.step() {
                if let message = StoredMessage(row) { body(message) }
            }
        } catch { throw undo(error) }
    }

    /// The newest end of an event that is still here.
    public mutating func lastEnd() throws(SpoolError) -> StoredMessage? {
        do throws(SpoolError) {
            let row = try database.use(.lastEnd)
            while try row.step() {
                if let message = StoredMessage(row) { return message }
            }
            return nil
        } catch { throw undo(error) }
    }

    /// Hands out the ends of events, the newest first. Two indices name them: what one of them has lost is found by the other.
    /// What cannot be read counts as ``unread``.
    /// - Parameter isWanted: by the event's id.
    /// - Throws: the first error, when all that can be read has been handed out.
    public mutating func forEachEnd(
        where isWanted: (String) -> Bool, _ body: (StoredMessage) -> Void
    ) throws(SpoolError) {
        var keys: Set<Int64> = []
        var problem: SpoolError?
        for query in [Query.ends, .endsOfEvents] {
            do throws(SpoolError) {
                let row = try database.use(query)
                while try row.step() {
                    if isWanted(row.text(1)) { keys.insert(row.int64(0)) }
                }
            } catch { problem = problem ?? error }
        }
        for key in keys.sorted(by: >) {
            do throws(SpoolError) {
                let row = try database.use(.row)
                row.bind(1, key)
                guard try row.step(), let message = StoredMessage(row) else {
                    unread += 1
                    continue
                }
                guard let event = message.header.event, event.part == .end, isWanted(event.id) else { continue }
                body(message)
            } catch { problem = problem ?? error }
        }
        if let problem { throw undo(problem) }
    }

    /// Messages of an event in their order, whatever became of them.
    /// - Parameters:
    ///   - parts: which.
    ///   - key: only those after this number.
    ///   - count: at most so many.
    public mutating func messages(
        of event: String, _ parts: ClosedRange<EventMark.Part>, after key: Int64 = 0, count: Int = .max
    ) throws(SpoolError) -> [StoredMessage] {
        var found: [StoredMessage] = []
        do throws(SpoolError) {
            let row = try database.use(.ofEvent)
            row.bind(1, event)
            row.bind(2, parts.lowerBound.rawValue)
            row.bind(3, parts.upperBound.rawValue)
            row.bind(4, key)
            row.bind(5, count)
            while try row.step() {
                if let message = StoredMessage(row) { found.append(message) } else { unread += 1 }
            }
        } catch { throw undo(error) }
        return found
    }

    /// All events of which there is an onset, an update or an end, the newest first.
    public mutating func events() throws(SpoolError) -> [String] {
        var ids: [String] = []
        do throws(SpoolError) {
            let row = try database.use(.eventParts)
            while try row.step() { ids.append(row.text(0)) }
        } catch { throw undo(error) }
        return ids
    }
}

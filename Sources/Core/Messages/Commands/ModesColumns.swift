import Values

/// Result of the command `history` for natural modes: periods of the past.
public struct ModesColumns: Sendable, Equatable {
    /// Periods in one reply at most: a month of hours.
    public static let most = 800

    /// In order of time.
    public var periods: [ModesMessage]
    /// From when on there are more (ns of UTC); nil: these are all.
    public var next: Int64?

    public init(_ periods: [ModesMessage] = [], next: Int64? = nil) { (self.periods, self.next) = (periods, next) }

    package func fields(_ f: inout some FieldVisitor) {
        f.text("kind", "modes", "What was asked for.")
        f.integer("n", periods.count, "Periods.")
        f.time("next", next, "From when on there are more, of which this reply has no room.")
        f.visit(Field("periods", "As in `data/modes`, in order of time."), periods, blank: { ModesMessage() }) {
            $0.fields(&$1)
        }
    }

    /// The object in one of the two encodings.
    public func result(cbor: Bool) -> ReplyResult {
        ReplyResult(asCBOR: cbor, isSingle: true, json: { fields(&$0) }, cbor: { fields(&$0) })
    }

    /// Reads a reply; nil: it is none.
    public init?(_ result: Value) {
        guard result["kind"] == "modes", case .array(let all)? = result["periods"], all.count <= Self.most else {
            return nil
        }
        let periods = all.compactMap { ModesMessage($0) }
        guard periods.count == all.count else { return nil }
        self.init(periods, next: result["next"]?.anyTime)
    }
}

import Settings
import Values

extension Command {
    public static let time = Command(
        "time", "Ask for the clock of stations: its time, source, error and offset.",
        result:
            "`t`; `synced`, `source`, `error_ms` of the host's clock, as in `state/health`; `offset_ms`: how far it is "
            + "behind its source, null where the kernel does not know",
        onlyTells: true
    ) { _, context in
        let (quality, offset) = context.clock()
        return .reply(
            Value.object([
                .init("t", .string(Timestamp(nanoseconds: context.wall).description)),
                .init("synced", .bool(quality.synced)), .init("source", .string(quality.source.rawValue)),
            ])
            .with("error_ms", quality.errorMs.map { .double($0) })
            .with("offset_ms", offset.map { .double(Double($0) / 1e6) } ?? .null))
    }
}

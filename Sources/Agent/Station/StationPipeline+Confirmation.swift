import Messages

extension StationPipeline {
    /// Marks the open event, or the last one, with what a network of stations says of it; nothing where it is another.
    public mutating func confirm(_ confirmation: EventConfirmation, to sink: PublicationSink) {
        events.confirm(confirmation, messenger: &messenger, quality: quality, to: sink)
    }
}

import Messages
import MiniSEED
import Settings
import SignalProcessing

/// A second set of traces for a while, beside those of the settings: blocks like theirs on `data/stream`.
extension StationPipeline {
    /// Begins with the next sample; the first block says so by a gap when samples have come before. One set at a time:
    /// those that there are end.
    /// - Returns: the topic of the blocks.
    /// - Throws: when its records cannot be made.
    @discardableResult
    public mutating func beginStream(
        _ settings: TraceConfiguration, to sink: PublicationSink
    ) throws(StationError) -> String {
        var messenger = self.messenger
        try messenger.setStream(settings, configuration)
        endStream(to: sink)
        messenger.takeOver(self.messenger)
        self.messenger = messenger
        streamSettings = settings
        var builder = TraceBuilder(settings, rate: rate)
        if processed > 0 { builder.begin(at: processed) }
        stream = builder
        (streamBlocks, isStreaming) = (0, true)
        return messenger.topics.stream
    }

    /// Sends what the traces still hold and ends them.
    public mutating func endStream(to sink: PublicationSink) {
        if let clock { drainStream(clock, to: sink) }
        (stream, streamSettings, isStreaming) = (nil, nil, false)
    }

    /// Sends a block.
    mutating func sendStream(_ clock: SampleClock, to sink: PublicationSink) {
        if stream?.send(&messenger, as: .stream, clock: clock, quality: quality, to: sink) == true { streamBlocks += 1 }
    }

    mutating func drainStream(_ clock: SampleClock, to sink: PublicationSink) {
        guard var stream else { return }
        let quality = self.quality
        var (messenger, sent) = (self.messenger, 0)
        stream.drain {
            if $0.send(&messenger, as: .stream, clock: clock, quality: quality, to: sink) { sent += 1 }
        }
        self.messenger = messenger
        self.stream = stream
        streamBlocks += sent
        sendStream(clock, to: sink)
    }
}

extension Messenger {
    /// Makes ready for the stream that is on; nil: there is none.
    mutating func setStream(_ settings: TraceConfiguration?, _ configuration: Configuration) throws(StationError) {
        guard let settings else { return }
        setStream(qos: settings.qos, form: try TraceForm(settings, configuration))
    }
}

extension TraceForm {
    /// What settings ask for.
    init(_ settings: TraceConfiguration, _ configuration: Configuration) throws(StationError) {
        switch settings.encoding {
        case .json: self = .json
        case .cbor: self = .cbor
        case .mseed2, .mseed3:
            do throws(MiniSEEDError) {
                let format = settings.encoding == .mseed2 ? MiniSEEDFormat.v2 : .v3
                self = .records(try TraceRecords(codes: ChannelCodes(configuration), format: format))
            } catch { throw StationError(path: "/station", message: error.description) }
        }
    }
}

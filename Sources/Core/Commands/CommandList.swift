import Messages
import Settings

extension Command {
    /// Every command, in the order in which the documents and `state/info` list them.
    public static let all: [Command] = [
        .config,
        .configConfirm,
        .configRollback,
        .configReset,
        .configGet,
        .snapshot,
        .stream,
        .events,
        .event,
        .history,
        .resend,
        .label,
        .confirmEvent,
        .resetExtremes,
        .calibrate,
        .selftest,
        .testEvent,
        .silence,
        .alarmTest,
        .alerts,
        .status,
        .rebirth,
        .log,
        .logTail,
        .ping,
        .time,
        .restart,
        .update,
        .updateConfirm,
    ]
}

/// Effect of a command: a task for the owner of a part of the agent, who gets the value in the braces as it is.
public enum CommandEffect: Sendable, Equatable {
    case settings(SettingsOrder)
    case main(MainOrder)
    case sampling(SamplingOrder)
    case alarm(AlarmOrder)
    case storage(StorageOrder)
    /// The reply is what the storage says.
    case both(SamplingOrder, StorageOrder)
}

/// Order to the owner of the settings.
public enum SettingsOrder: Sendable, Equatable {
    indirect case change(ConfigChange)
    case confirm(revision: Int?)
    /// All that is in force, and where it comes from.
    case show
}

/// Order to the main thread.
public enum MainOrder: Sendable, Equatable {
    /// All retained messages again.
    case rebirth
    /// The log over MQTT for a while.
    case log(LogConfiguration.Level, seconds: Double)
    /// So many of its last lines, from a level on.
    case logTail(Int, LogConfiguration.Level)
    /// The agent ends in order; its supervisor starts it again.
    case restart
    /// Another version of the agent, by the program that may install it.
    indirect case update(UpdateRequest)
    /// This version, which runs on trial, is good.
    indirect case confirmUpdate(String)
}

/// Order to the thread that samples, which carries it out between two blocks.
public enum SamplingOrder: Sendable, Equatable {
    case resetExtremes
    /// An event as if the ground had shaken, `test: true` in all its messages.
    case testEvent
    /// At rest, for so many seconds: offset, noise and 1 g.
    case calibrate(seconds: Double)
    /// The chip's own; the stream has a gap while it runs.
    case selfTest
    /// Other traces for a while, beside those of the settings, on `data/stream`; one such set at a time.
    indirect case stream(TraceConfiguration, seconds: Double)
    /// Ends such traces before their time.
    case endStream
    /// Confirmation by a network of an event that may still be open.
    indirect case confirm(EventConfirmation)
}

/// Order to the thread that owns the alarm's line.
public enum AlarmOrder: Sendable, Equatable {
    /// Ends an alarm or a test.
    case silence
    /// Plays steps of 0 and 1, each for so many seconds; nil: 16 random ones.
    case test(String?, step: Double)
}

/// Order to the thread that owns the disk.
public enum StorageOrder: Sendable, Equatable {
    /// Sends the waveform ring's samples between two times (ns of UTC), as miniSEED on `topic`.
    case snapshot(from: Int64, to: Int64, topic: String)
    /// Ends of events whose onset lies between two times (ns of UTC), the newest first.
    /// - after: the cursor of the reply before; 0: from the newest.
    indirect case events(
        ClosedRange<Int64>, minimum: Double?, likely: String?, labelled: Bool = false, limit: Int, after: Int64)
    /// One event; its waveform on a topic; nil: without.
    case event(String, topic: String?)
    /// Levels between two times, in steps of seconds.
    case history(ClosedRange<Int64>, step: Int, cbor: Bool)
    /// Intervals of vibration that begin between two times.
    case vibration(ClosedRange<Int64>, cbor: Bool)
    /// Modes of periods that begin between two times.
    case modes(ClosedRange<Int64>, cbor: Bool)
    /// Labels an event by its id; nil: takes its label away.
    case label(String, String?)
    /// Confirmation of an event by a network.
    indirect case confirm(EventConfirmation)
    /// Messages of a run of the agent, by the numbers of their stream, below a topic.
    indirect case resend(stream: String, boot: String, ClosedRange<Int>)
}

import Messages

/// One connection to a broker at a time, as the link sees it: the real one is on libmosquitto, the one of the tests
/// is played by hand. Everything is called on the one thread that owns it; what happens is collected as events.
protocol Transport: AnyObject {
    /// Other options, from the next `open` on.
    func change(to options: LinkOptions)
    /// Prepares one attempt of this form with a broker by its index, and forgets everything of the connection before: its
    /// limits, and the messages not yet acknowledged. Returns a sentence when that is not possible.
    func open(broker: Int, as form: ConnectForm) -> String?
    /// Begins the attempt; how it ends comes as an event. Returns a sentence when it failed at once.
    func connect() -> String?
    /// Hands one message over; only while connected.
    func publish(_ header: PublicationHeader, _ payload: UnsafeRawBufferPointer) -> HandOver
    /// Subscribes with QoS 1; its answer comes as an event with this number. Nil when that is not possible now.
    /// - Parameter isCheck: our own messages come back as well, and what is retained; they do not otherwise (MQTT 5).
    func subscribe(_ filter: String, isCheck: Bool) -> Int32?
    func unsubscribe(_ filter: String)
    /// Drops the connection or attempt without ceremony.
    func abandon()
    /// Says good-bye in order.
    /// - Parameter keepsWill: the broker publishes the last will all the same when we do not come back (MQTT 5).
    func disconnect(keepsWill: Bool)
    /// True while bytes wait to be written.
    var wantsWrite: Bool { get }
    /// The kernel's state of the bytes on their way; nil when it gives none.
    var line: LineState? { get }
    /// Appends what has happened since the last call.
    func takeEvents(into events: inout [MQTTEvent])
}

extension Transport {
    var line: LineState? { nil }
}

/// Outcome of a message that was handed over.
enum HandOver: Equatable {
    /// The library has it; its end comes as an event with this number.
    case taken(id: Int32)
    /// Larger than the broker takes.
    case tooLarge
    /// Not a message that can be sent at all, such as one with a broken topic.
    case impossible
    /// Not connected any more, or no memory: the message stays ours.
    case later
}

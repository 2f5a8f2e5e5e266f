import CMosquitto
import Foundation
import Platform

/// A plain MQTT 5 client that remembers all it hears.
public final class Subscriber: @unchecked Sendable {
    public struct Message: Sendable, Equatable {
        public var topic: String
        public var payload: Data
        public var retained: Bool
        public var qos: Int
        /// Seconds of the monotonic clock.
        public var arrived: Double
        public var contentType: String?
        public var expiry: UInt32?
        /// It has the user property `hist=1`.
        public var isHistory = false
        public var text: String { String(decoding: payload, as: UTF8.self) }
        /// The payload as JSON object.
        public var json: [String: Any] { (try? JSONSerialization.jsonObject(with: payload)) as? [String: Any] ?? [:] }
    }

    private struct State {
        var messages: [Message] = []
        var subscribed = 0
        var ended = false
    }

    private let state = Mutex(State())
    private let handle: OpaquePointer
    private let finished = DispatchSemaphore(value: 0)

    /// Connects, subscribes, and waits until the broker has granted it.
    public init(port: Int, _ filters: [String] = ["#"], username: String? = nil, password: String? = nil) throws {
        _ = Self.library
        guard let handle = mosquitto_new(nil, true, nil) else { throw TestFailure("no client") }
        self.handle = handle
        mosquitto_user_data_set(handle, Unmanaged.passUnretained(self).toOpaque())
        mosquitto_int_option(handle, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5)
        mosquitto_int_option(handle, MOSQ_OPT_RECEIVE_MAXIMUM, 65535)
        if let username { mosquitto_username_pw_set(handle, username, password) }
        mosquitto_message_v5_callback_set(handle) { _, context, message, properties in
            guard let message = message?.pointee, let subscriber = Subscriber.from(context) else { return }
            subscriber.take(message, properties)
        }
        mosquitto_subscribe_callback_set(handle) { _, context, _, _, _ in
            Subscriber.from(context)?.state.withLock { $0.subscribed += 1 }
        }
        // A second listener may come a little after the first.
        guard eventually(within: 5, { mosquitto_connect_bind_v5(handle, "127.0.0.1", Int32(port), 60, nil, nil) == 0 })
        else {
            finished.signal()
            throw TestFailure("cannot connect to port \(port)")
        }
        let weakly = Unmanaged.passUnretained(self)
        Thread.detachNewThread {
            let subscriber = weakly.takeUnretainedValue()
            while !subscriber.state.withLock({ $0.ended }), mosquitto_loop(subscriber.handle, 20, 100) == 0 {}
            subscriber.finished.signal()
        }
        for filter in filters { mosquitto_subscribe_v5(handle, nil, filter, 1, 0, nil) }
        guard eventually(within: 20, { state.withLock { $0.subscribed == filters.count } }) else {
            throw TestFailure("not subscribed on port \(port)")
        }
    }

    deinit {
        state.withLock { $0.ended = true }
        finished.wait()
        mosquitto_destroy(handle)
    }

    /// All messages so far.
    public var messages: [Message] { state.withLock { $0.messages } }

    /// Those on a topic.
    public func messages(on topic: String) -> [Message] { messages.filter { $0.topic == topic } }

    /// Waits for a message that is wanted.
    public func first(within seconds: Double = 10, where wanted: (Message) -> Bool) -> Message? {
        var found: Message?
        _ = eventually(within: seconds) {
            found = messages.first(where: wanted)
            return found != nil
        }
        return found
    }

    private func take(_ message: mosquitto_message, _ properties: OpaquePointer?) {
        let payload = message.payload.map { Data(bytes: $0, count: Int(message.payloadlen)) } ?? Data()
        var content: UnsafeMutablePointer<CChar>?
        var expiry: UInt32 = 0
        let kind = Int32(MQTT_PROP_CONTENT_TYPE.rawValue)
        let hasContent = mosquitto_property_read_string(properties, kind, &content, false) != nil
        let life = Int32(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL.rawValue)
        let hasExpiry = mosquitto_property_read_int32(properties, life, &expiry, false) != nil
        var name: UnsafeMutablePointer<CChar>?
        var value: UnsafeMutablePointer<CChar>?
        let user = Int32(MQTT_PROP_USER_PROPERTY.rawValue)
        var isHistory = false
        if mosquitto_property_read_string_pair(properties, user, &name, &value, false) != nil {
            isHistory = name.map { String(cString: $0) } == "hist" && value.map { String(cString: $0) } == "1"
        }
        free(name)
        free(value)
        let heard = Message(
            topic: message.topic.map { String(cString: $0) } ?? "", payload: payload, retained: message.retain,
            qos: Int(message.qos), arrived: ProcessInfo.processInfo.systemUptime,
            contentType: hasContent ? content.map { String(cString: $0) } : nil, expiry: hasExpiry ? expiry : nil,
            isHistory: isHistory)
        free(content)
        state.withLock { $0.messages.append(heard) }
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> Subscriber? {
        context.map { Unmanaged<Subscriber>.fromOpaque($0).takeUnretainedValue() }
    }

    private static let library: Void = { _ = mosquitto_lib_init() }()
}

import CMosquitto
import Foundation
import Platform
import TestSupport

/// A station that keeps states with the broker and answers commands as a test wants.
final class FakeStation: @unchecked Sendable {
    struct Request: @unchecked Sendable {
        var topic: String
        var object: [String: Any]
        var responseTopic: String?
        var correlation: Data?
        var id: String { object["id"] as? String ?? "" }
        var verb: String { String(topic.split(separator: "/").last ?? "") }
    }
    struct Outgoing: Sendable {
        var topic: String
        var payload: Data
    }

    let id: String
    private let handle: OpaquePointer
    private let answer: @Sendable (FakeStation, Request) -> [Outgoing]
    private let heard = Mutex<[Request]>([])
    private let ended = Mutex(false)
    private let subscribed = Atomic<Int>(0)
    private let finished = DispatchSemaphore(value: 0)

    /// - Parameter answer: messages that go out on a request, in their order; called on a thread of its own.
    init(
        _ broker: Broker, _ id: String, groups: [String] = [], online: String = "online",
        answer: @escaping @Sendable (FakeStation, Request) -> [Outgoing] = { _, _ in [] }
    ) throws {
        self.id = id
        self.answer = answer
        guard let handle = mosquitto_new(nil, true, nil) else { throw TestFailure("no client") }
        self.handle = handle
        // It publishes from the threads of tests as well.
        mosquitto_threaded_set(handle, true)
        mosquitto_user_data_set(handle, Unmanaged.passUnretained(self).toOpaque())
        mosquitto_int_option(handle, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5)
        mosquitto_message_v5_callback_set(handle) { _, context, message, properties in
            guard let message = message?.pointee, let context else { return }
            Unmanaged<FakeStation>.fromOpaque(context).takeUnretainedValue().take(message, properties)
        }
        mosquitto_subscribe_callback_set(handle) { _, context, _, _, _ in
            guard let context else { return }
            Unmanaged<FakeStation>.fromOpaque(context).takeUnretainedValue().subscribed.add(1, ordering: .relaxed)
        }
        guard mosquitto_connect_bind_v5(handle, "127.0.0.1", Int32(broker.port), 60, nil, nil) == 0 else {
            throw TestFailure("the broker is not there")
        }
        let weakly = Unmanaged.passUnretained(self)
        Thread.detachNewThread {
            let station = weakly.takeUnretainedValue()
            while !station.ended.withLock({ $0 }), mosquitto_loop(station.handle, 20, 100) == 0 {}
            station.finished.signal()
        }
        let filters = ["seismote/\(id)/cmd/#"] + (["all"] + groups).map { "seismote/group/\($0)/cmd/#" }
        for filter in filters { mosquitto_subscribe_v5(handle, nil, filter, 1, 0, nil) }
        guard eventually(within: 20, { subscribed.load(ordering: .relaxed) == filters.count }) else {
            throw TestFailure("not subscribed")
        }
        let names = groups.map { "\"\($0)\"" }.joined(separator: ",")
        publish(
            "state/info",
            #"{"v":1,"agent":{"version":"9.8.7"},"station":{"id":"\#(id)","groups":[\#(names)]},"#
                + #""sensor":{"driver":"i2c","chip":"adxl345","rate_hz":100}}"#, retained: true)
        publish("state/online", online, retained: true)
        // What came before is with the broker when this one is back.
        let last = Request.marker
        publish("cmd/\(last)", "{}")
        guard eventually(within: 20, { requests.contains { $0.verb == last } }) else {
            throw TestFailure("the broker keeps nothing")
        }
        heard.withLock { $0.removeAll() }
    }

    deinit {
        ended.withLock { $0 = true }
        finished.wait()
        mosquitto_destroy(handle)
    }

    var requests: [Request] { heard.withLock { $0 } }

    /// Below the station.
    func publish(_ topic: String, _ text: String, retained: Bool = false) {
        publish(topic, Array(text.utf8), retained: retained)
    }

    func publish(_ topic: String, _ bytes: [UInt8], retained: Bool = false) {
        mosquitto_publish(handle, nil, "seismote/\(id)/\(topic)", Int32(bytes.count), bytes, 1, retained)
    }

    /// A reply where interface.md wants it; `members` without braces.
    func reply(_ request: Request, _ members: String) -> Outgoing {
        let text = #"{"v":1,"id":"\#(request.id)","cmd":"\#(request.verb)",\#(members)}"#
        return Outgoing(
            topic: request.responseTopic ?? "seismote/\(id)/res/\(request.id)", payload: Data(text.utf8))
    }

    private func take(_ message: mosquitto_message, _ properties: OpaquePointer?) {
        let payload = message.payload.map { Data(bytes: $0, count: Int(message.payloadlen)) } ?? Data()
        var request = Request(
            topic: message.topic.map { String(cString: $0) } ?? "",
            object: (try? JSONSerialization.jsonObject(with: payload)) as? [String: Any] ?? [:])
        var text: UnsafeMutablePointer<CChar>?
        if mosquitto_property_read_string(properties, Int32(MQTT_PROP_RESPONSE_TOPIC.rawValue), &text, false) != nil {
            request.responseTopic = text.map { String(cString: $0) }
            free(text)
        }
        var bytes: UnsafeMutableRawPointer?
        var count: UInt16 = 0
        let correlation = Int32(MQTT_PROP_CORRELATION_DATA.rawValue)
        if mosquitto_property_read_binary(properties, correlation, &bytes, &count, false) != nil {
            request.correlation = bytes.map { Data(bytes: $0, count: Int(count)) }
            free(bytes)
        }
        heard.withLock { $0.append(request) }
        guard request.verb != Request.marker else { return }
        for one in answer(self, request) {
            let payload = [UInt8](one.payload)
            mosquitto_publish(handle, nil, one.topic, Int32(payload.count), payload, 1, false)
        }
    }
}

extension FakeStation.Request {
    static let marker = "marker"
}

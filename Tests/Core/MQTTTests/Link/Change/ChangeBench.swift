import Messages
import Testing

@testable import MQTT

/// A bench whose options change as those of a link do.
final class ChangeBench {
    let bench: Bench
    let shared: LinkShared

    init(brokers: Int = 1, _ change: (inout LinkOptions) -> Void = { _ in }) {
        bench = Bench(brokers: brokers) {
            $0.base = "s"
            change(&$0)
        }
        shared = LinkShared(bench.core.options)
    }

    var core: LinkCore { bench.core }
    var transport: FakeTransport { bench.transport }
    var statistics: LinkStatistics { bench.core.statistics }

    /// Asks for it; the link's thread does not know of it yet.
    @discardableResult func ask(_ change: (inout LinkOptions) -> Void) -> UInt64 {
        var options = shared.options
        change(&options)
        return shared.requestChange(options) { old, number in
            bench.store.withLock {
                $0.retained.move(from: old.base, to: options.base, presence: old.presence.topic, change: number)
            }
        }
    }

    /// The link's thread hears of it.
    func take() {
        if let (options, number) = shared.takeChange() {
            core.handle(.change(.init(options, number: number)), now: bench.now)
        }
        bench.step()
    }

    @discardableResult func change(_ change: (inout LinkOptions) -> Void) -> UInt64 {
        let number = ask(change)
        take()
        return number
    }

    /// Acknowledges what was sent so far, and hands back what it was.
    @discardableResult func acknowledge() -> [String] {
        let sent = transport.sent.map { "\($0.topic) \($0.text)" }
        bench.acknowledge()
        return sent
    }

    /// The next attempt is accepted; hands back what is sent then.
    func accept() -> [String] {
        transport.sent.removeAll()
        transport.accept()
        bench.step()
        #expect(core.life.isUp)
        return acknowledge()
    }
}

func toOther(_ options: inout LinkOptions) {
    options.connection.brokers = [BrokerAddress(host: "other", port: 1883, tls: false)]
}

func toOtherBase(_ options: inout LinkOptions) {
    options.base = "n"
    options.presence.topic = "n/online"
}

func backToFirstBase(_ options: inout LinkOptions) {
    options.base = "s"
    options.presence.topic = "s/online"
}

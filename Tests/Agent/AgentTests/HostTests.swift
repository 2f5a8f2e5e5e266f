import CLinux
import Foundation
import Messages
import TestSupport
import Testing

@testable import Agent

@Suite struct HostTests {
    @Test(arguments: [
        ("raspberrypi", "raspberrypi"), ("node-3.school.example", "node-3"), ("büro 2", "b-ro-2"), ("", "station"),
        ("group", "station"), (String(repeating: "a", count: 100), String(repeating: "a", count: 64)),
    ])
    func aHostNameBecomesAnID(_ name: String, _ id: String) {
        #expect(Topics.id(fromHostName: name) == id)
        #expect(Topics.problem(inID: Topics.id(fromHostName: name)) == nil)
    }

    @Test func theHostAnswers() throws {
        #expect(UUID(uuidString: HostStatus.uuid()) != nil)
        #expect(HostStatus.uuid() != HostStatus.uuid())
        #expect(try #require(HostStatus.residentBytes()) > 1 << 20)
        #expect(HostStatus.cpuSeconds() > 0)
        let quality = try #require(HostStatus.timeQuality())
        #expect(quality.synced == (quality.source != .free))
        #expect((quality.errorMs ?? 0) >= 0)
    }

    @Test func theKernelSaysHowGoodItsClockIs() {
        func quality(_ status: Int32, _ maximum: Int = 1500, _ estimate: Int = 100) -> TimeQuality {
            HostStatus.timeQuality(status: status, maxError: maximum, estimatedError: estimate)
        }
        #expect(quality(STA_UNSYNC | STA_PLL) == TimeQuality(synced: false, source: .free))
        #expect(quality(STA_PLL | STA_NANO) == TimeQuality(synced: true, source: .ntp, errorMs: 1.5))
        #expect(quality(STA_PLL, 0) == TimeQuality(synced: true, source: .ntp, errorMs: 0.1))
        #expect(quality(STA_PLL | STA_PPSSIGNAL | STA_PPSTIME).source == .gps)
        // Pulses that are seen but not followed, and a wish without pulses.
        #expect(quality(STA_PLL | STA_PPSSIGNAL).source == .ntp)
        #expect(quality(STA_PLL | STA_PPSFREQ).source == .ntp)
    }

    /// In a sandbox with ProtectClock the kernel does not answer: then the state comes by a file, while that is fresh.
    @Test func theStateOfTheClockComesByAFile() {
        let clock = KernelClock(status: STA_PLL | STA_NANO, maxError: 12_000, estimatedError: 300)
        let text = ClockWatch.text(clock, now: 5_000_000_000)
        #expect(ClockWatch.state(text, now: 5_000_000_000) == clock)
        let behind = KernelClock(status: STA_PLL | STA_NANO, maxError: 12_000, estimatedError: 300, offset: -2_500)
        #expect(ClockWatch.state(ClockWatch.text(behind, now: 1), now: 2) == behind)
        // 500 µs a second, as the kernel has it.
        #expect(ClockWatch.state(text, now: 9_000_000_000)?.maxError == 14_000)
        #expect(ClockWatch.state(text, now: 15_000_000_001) == nil)
        #expect(ClockWatch.state(text, now: 4_999_999_999) == nil)
        for wrong in [
            "", "\n", String(text.dropLast()), "64 1 2 x\n", "64 1 2\n", "64 1 2 3 4 5\n", "64 1 2 5000000000 x\n",
            "64  1 2\n",
            "99999999999 1 2 5000000000\n", "64 1 2 -9223372036854775808\n",
        ] { #expect(ClockWatch.state(wrong, now: 5_000_000_000) == nil, "\(wrong)") }
        let huge = ClockWatch.state("64 9223372036854775807 2 5000000000\n", now: 5_000_000_000)
        #expect(huge?.maxError == 1 << 40)
    }

    /// A socket as systemd has one.
    final class NotifySocket {
        let path: String
        private let descriptor: Int32
        init(_ path: String) throws {
            self.path = path
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
            let size = socklen_t(MemoryLayout<sockaddr_un>.size)
            let code = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
            }
            guard code == 0 else { throw TestFailure("cannot bind \(path)") }
        }
        deinit { close(descriptor) }

        func next() -> String? {
            var bytes = [UInt8](repeating: 0, count: 1000)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
        }
    }

    @Test func systemdIsTold() throws {
        let folder = try TemporaryFolder()
        let socket = try NotifySocket(folder.path("notify"))
        let manager = ServiceManager { ["NOTIFY_SOCKET": socket.path, "WATCHDOG_USEC": "3000000"][$0] }
        #expect(manager.watchdogInterval == 1_500_000_000)
        manager.ready("starting")
        manager.alive()
        manager.reloading()
        manager.stopping()
        #expect(socket.next() == "READY=1\nSTATUS=starting")
        #expect(socket.next() == "WATCHDOG=1")
        #expect(socket.next()?.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") == true)
        #expect(socket.next() == "STOPPING=1\nSTATUS=stopping")
        #expect(socket.next() == nil)
    }

    @Test func withoutSystemdNothingHappens() {
        for environment in [
            [:], ["NOTIFY_SOCKET": ""], ["NOTIFY_SOCKET": "relative"], ["WATCHDOG_USEC": "-5"],
            ["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 200), "WATCHDOG_USEC": "99999999999999999999"],
            ["WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "1"],
        ] {
            let manager = ServiceManager { environment[$0] }
            #expect(manager.watchdogInterval == nil)
            manager.ready("x")
            manager.alive()
        }
    }
}

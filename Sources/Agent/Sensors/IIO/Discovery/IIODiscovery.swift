import CIIO
import Glibc

/// Lists the devices of an IIO context. It only reads: nothing is set, no device opened.
enum IIODiscovery {
    /// - Parameter uri: `local:`, `ip:host`, `usb:` and whatever else libiio takes.
    /// - Throws: `unsupported` where libiio is not installed, `missing` where there is no such context.
    static func inventory(uri: String = "local:") throws(SensorError) -> IIOInventory {
        let context = try IIOContext(uri: uri)
        context.setTimeout(milliseconds: 3000)
        var inventory = IIOInventory(uri: uri)
        for trigger in context.triggers() {
            let rate = trigger.read("sampling_frequency").flatMap(DeviceAttributes.number)
            inventory.triggers.append(IIOTriggerReport(id: trigger.id, name: trigger.name, rate: rate))
        }
        for device in context.devices() {
            inventory.devices.append(report(device, triggers: inventory.triggers))
        }
        if context.isLocal {
            inventory.isLocal = true
            inventory.hrtimerProblem = LocalTrigger.problem(.hrtimer)
            inventory.sysfsTriggerProblem = LocalTrigger.problem(.sysfs)
        }
        return inventory
    }

    private static func report(_ device: IIODevice, triggers: [IIOTriggerReport]) -> IIODeviceReport {
        var channels: [IIOChannelReport] = []
        for channel in device.channels {
            channels.append(IIOChannelReport(id: channel.id, format: channel.format))
        }
        let acceleration = device.acceleration
        var report = IIODeviceReport(
            id: device.id, name: device.name, label: device.label, driver: "", modalias: "", channels: channels,
            isAccelerometer: acceleration != nil, hasBuffer: device.hasBuffer,
            hasTimestamp: device.channel("timestamp")?.isScanElement ?? false,
            hasFIFO: device.hasBufferAttribute("hwfifo_watermark"),
            isCapturing: device.readBufferAttribute("enable") == "1", rate: nil, scale: nil, rates: nil, scales: nil,
            mountMatrix: "", trigger: device.trigger, ownTrigger: nil, problems: [])
        if device.isLocal, let parent = Sysfs.parent(device.folder) {
            report.driver = Sysfs.linkName("\(parent)/driver") ?? ""
            report.modalias = Sysfs.read("\(parent)/modalias") ?? ""
        }
        report.ownTrigger = OwnTrigger.name(of: device, among: triggers.map { ($0.id, $0.name) })
        guard let x = acceleration?.first else { return report }
        let attributes = DeviceAttributes(device: device, channel: x)
        report.rate = attributes.number("sampling_frequency")
        report.scale = attributes.number("scale")
        report.rates = attributes.available("sampling_frequency")
        report.scales = attributes.available("scale")
        report.mountMatrix = attributes.read("mount_matrix") ?? ""
        report.problems = problems(device, attributes)
        return report
    }

    /// Obstacles that would keep this process from capturing.
    private static func problems(_ device: IIODevice, _ attributes: DeviceAttributes) -> [IIOProblem] {
        var problems: [IIOProblem] = []
        if !device.hasBuffer {
            problems.append(
                IIOProblem(
                    .unsupported, "\(device.title) has no buffer: its values are read one by one, with more jitter"))
        } else if let format = attributes.channel.format, !format.isUsable {
            problems.append(
                IIOProblem(.unsupported, "\(device.title) has samples of the unsupported format \(format.text)"))
        }
        guard device.isLocal else { return problems }
        var isRefused = false
        func check(_ file: String, _ mode: Int32, _ what: String) {
            guard !isRefused, access(file, F_OK) == 0, access(file, mode) != 0 else { return }
            // One is enough: one command grants them all.
            isRefused = true
            problems.append(
                IIOProblem(.permission, "\(file) is not \(what) by this user", command: IIOFailure.grantCommand))
        }
        if device.hasBuffer {
            let node = "/dev/\(device.id)"
            if access(node, F_OK) != 0 {
                problems.append(IIOProblem(.missing, "there is no \(node)"))
            }
            check(node, R_OK | W_OK, "readable and writable")
            check("\(device.folder)/buffer/enable", W_OK, "writable")
            check("\(device.folder)/scan_elements/in_accel_x_en", W_OK, "writable")
            check("\(device.folder)/trigger/current_trigger", W_OK, "writable")
        }
        check(attributes.file("sampling_frequency"), W_OK, "writable")
        check(attributes.file("scale"), W_OK, "writable")
        return problems
    }
}

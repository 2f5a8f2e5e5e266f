import CIIO
import Glibc

/// A context of libiio: the devices of this machine, or of another one. Closed when it goes.
final class IIOContext {
    let uri: String
    /// The devices are this machine's: triggers can be made, files of sysfs be looked at.
    let isLocal: Bool
    private let pointer: OpaquePointer

    /// Loads the library when it is first needed: with all that it brings along 4 MB of RSS, 0.5 MB of it written to
    /// and so the agent's own (Debian 12).
    init(uri: String) throws(SensorError) {
        guard ciio_load() else {
            throw SensorError(
                .unsupported,
                "\(String(cString: ciio_load_error())): install the package libiio0 (sensor.driver: iio needs it)")
        }
        guard let pointer = ciio_create_context(uri) else {
            let number = errno
            // An empty machine has no IIO bus in sysfs at all.
            if uri == "local:", number == ENOENT || number == ENODEV || number == ENOSYS {
                throw SensorError(.missing, "the kernel has no IIO device")
            }
            let code: SensorError.Code = number == EINVAL || number == ENOSYS ? .unsupported : .missing
            throw SensorError(code, "IIO context \(uri) cannot be opened: \(String(cString: strerror(number)))")
        }
        self.pointer = pointer
        self.uri = uri
        isLocal = ciio_context_name(pointer).map { String(cString: $0) == "local" } ?? false
    }

    deinit { ciio_context_destroy(pointer) }

    func setTimeout(milliseconds: Int) { _ = ciio_context_set_timeout(pointer, UInt32(clamping: milliseconds)) }

    /// Without the triggers, the maker of triggers, and what is no IIO (hwmon).
    func devices() -> [IIODevice] { all().filter { $0.id.hasPrefix("iio:device") } }

    func triggers() -> [IIODevice] { all().filter { ciio_device_is_trigger($0.pointer) } }

    private func all() -> [IIODevice] {
        var devices: [IIODevice] = []
        for index in 0..<ciio_context_devices(pointer) {
            guard let device = ciio_context_device(pointer, index) else { continue }
            devices.append(IIODevice(pointer: device, isLocal: isLocal))
        }
        return devices
    }
}

/// Meaning of an error number, for the wire and for people.
enum IIOFailure {
    /// - Parameters:
    ///   - number: errno, positive.
    ///   - what: what could not be done, with its object: "/dev/iio:device0 cannot be opened".
    static func error(_ number: Int32, _ what: String) -> SensorError {
        let code: SensorError.Code =
            switch number {
            case EACCES, EPERM, EROFS: .permission
            case EBUSY: .busy
            case ENOENT, ENODEV, ENXIO, EBADF, EPIPE, ESHUTDOWN, ECONNRESET, ECONNREFUSED, ECONNABORTED, ENOTCONN,
                EHOSTUNREACH, ENETUNREACH, EHOSTDOWN:
                .missing
            case ENOSYS, EOPNOTSUPP: .unsupported
            default: .fault
            }
        var text = "\(what): \(String(cString: strerror(number)))"
        if code == .permission { text += ". The group iio gets it by: \(grantCommand)" }
        if code == .busy { text += ". Another program reads the device" }
        return SensorError(code, text)
    }

    /// The command that lets the group `iio` read and set all IIO devices, now and after each start.
    static let grantCommand = """
        sudo groupadd -f iio && echo 'SUBSYSTEM=="iio", GROUP="iio", MODE="0660", \
        RUN+="/bin/chgrp -R iio /sys%p", RUN+="/bin/chmod -R g+w /sys%p"' | sudo tee /etc/udev/rules.d/60-iio.rules \
        && sudo udevadm control -R && sudo udevadm trigger -c add -s iio
        """
}

/// A device of a context; valid as long as the context is.
struct IIODevice {
    let pointer: OpaquePointer
    let isLocal: Bool

    var id: String { Self.text(ciio_device_id(pointer)) }
    var name: String { Self.text(ciio_device_name(pointer)) }
    var label: String { Self.text(ciio_device_label(pointer)) }
    /// For people.
    var title: String { name.isEmpty ? id : "\(name) (\(id))" }
    /// Its folder in sysfs; only of a local one.
    var folder: String { "/sys/bus/iio/devices/\(id)" }

    /// Input channels, in the order of the scan.
    var channels: [IIOChannel] {
        var channels: [IIOChannel] = []
        for index in 0..<ciio_device_channels(pointer) {
            guard let channel = ciio_device_channel(pointer, index), !ciio_channel_is_output(channel) else { continue }
            channels.append(IIOChannel(pointer: channel))
        }
        return channels
    }

    func channel(_ name: String) -> IIOChannel? {
        ciio_device_find_channel(pointer, name, false).map { IIOChannel(pointer: $0) }
    }

    /// x, y and z of an accelerometer; nil when it is none.
    var acceleration: [IIOChannel]? {
        guard let x = channel("accel_x"), let y = channel("accel_y"), let z = channel("accel_z") else { return nil }
        return [x, y, z]
    }

    /// x, y and z can be captured into its buffer.
    var hasBuffer: Bool { acceleration?.allSatisfy(\.isScanElement) ?? false }

    // MARK: Attributes

    func has(_ attribute: String) -> Bool { ciio_device_find_attr(pointer, attribute) != nil }

    func hasBufferAttribute(_ attribute: String) -> Bool { ciio_device_find_buffer_attr(pointer, attribute) != nil }

    /// Nil where it is not there or cannot be read.
    func read(_ attribute: String) -> String? {
        Self.read { ciio_device_attr_read(pointer, attribute, $0, $1) }
    }

    /// Returns 0 or an error number.
    func write(_ attribute: String, _ value: String) -> Int32 {
        let count = ciio_device_attr_write(pointer, attribute, value)
        return count < 0 ? Int32(clamping: -count) : 0
    }

    func readBufferAttribute(_ attribute: String) -> String? {
        Self.read { ciio_device_buffer_attr_read(pointer, attribute, $0, $1) }
    }

    /// Name of the trigger that it has; nil without one.
    var trigger: String? {
        if isLocal {
            guard let text = Sysfs.read("\(folder)/trigger/current_trigger"), !text.isEmpty else { return nil }
            return text
        }
        var trigger: OpaquePointer?
        guard ciio_device_get_trigger(pointer, &trigger) == 0, let trigger else { return nil }
        return Self.text(ciio_device_name(trigger))
    }

    /// It takes a trigger.
    var takesTrigger: Bool {
        if isLocal { return access("\(folder)/trigger/current_trigger", F_OK) == 0 }
        var trigger: OpaquePointer?
        return ciio_device_get_trigger(pointer, &trigger) == 0
    }

    // MARK: Text

    static func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }

    static func read(_ call: (UnsafeMutablePointer<CChar>, Int) -> Int) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { memory in
            guard let base = memory.baseAddress else { return nil }
            let count = call(base, memory.count)
            guard count >= 0 else { return nil }
            memory[min(count, memory.count - 1)] = 0
            return Sysfs.trimmed(String(cString: base))
        }
    }
}

/// A channel of a device; valid as long as the context is.
struct IIOChannel {
    let pointer: OpaquePointer

    var id: String { IIODevice.text(ciio_channel_id(pointer)) }
    var isScanElement: Bool { ciio_channel_is_scan_element(pointer) }
    var index: Int { ciio_channel_index(pointer) }

    /// How its values lie in a scan; nil for one that is no scan element.
    var format: SampleFormat? {
        guard isScanElement, let format = ciio_channel_format(pointer)?.pointee else { return nil }
        return SampleFormat(
            bytes: Int(format.length / 8), bits: Int(format.bits), shift: Int(format.shift),
            isSigned: format.is_signed, isBigEndian: format.is_be)
    }

    func has(_ attribute: String) -> Bool { ciio_channel_find_attr(pointer, attribute) != nil }

    func read(_ attribute: String) -> String? {
        IIODevice.read { ciio_channel_attr_read(pointer, attribute, $0, $1) }
    }

    func write(_ attribute: String, _ value: String) -> Int32 {
        let count = ciio_channel_attr_write(pointer, attribute, value)
        return count < 0 ? Int32(clamping: -count) : 0
    }

    /// Name of the attribute's file in the device's folder.
    func file(_ attribute: String) -> String { IIODevice.text(ciio_channel_attr_file(pointer, attribute)) }
}

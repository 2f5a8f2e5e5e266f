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

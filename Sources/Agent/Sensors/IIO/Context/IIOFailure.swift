import Glibc

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

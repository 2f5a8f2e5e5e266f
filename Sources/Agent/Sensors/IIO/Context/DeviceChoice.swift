/// Which of the devices is the accelerometer. One chip can be several devices, the gyroscope first: only the channels
/// tell.
enum DeviceChoice {
    /// Facts needed to choose a device.
    struct Candidate: Sendable, Equatable {
        var id: String
        var name: String
        var label: String
        /// It has accel_x, accel_y and accel_z as inputs.
        var isAccelerometer: Bool
        /// They can be captured into its buffer.
        var hasBuffer: Bool
    }

    /// Index of the device that is asked for. `auto`: the first accelerometer with a buffer, or else the first.
    /// - Parameter wanted: name, label, id, or `auto`.
    static func index(_ wanted: String, of devices: [Candidate]) throws(SensorError) -> Int {
        if wanted == "auto" || wanted.isEmpty {
            if let found = devices.firstIndex(where: { $0.isAccelerometer && $0.hasBuffer })
                ?? devices.firstIndex(where: { $0.isAccelerometer })
            {
                return found
            }
            throw SensorError(
                .missing, "none of the \(devices.count) IIO devices has the channels accel_x, accel_y and accel_z")
        }
        func fits(_ device: Candidate) -> Bool {
            device.id == wanted || device.label == wanted || device.name == wanted
        }
        // A chip's name can stand on its gyroscope, too.
        if let found = devices.firstIndex(where: { fits($0) && $0.isAccelerometer }) { return found }
        if let other = devices.first(where: fits) {
            throw SensorError(
                .identity, "IIO device \(wanted) (\(other.id)) is no accelerometer: it has no accel_x, accel_y, accel_z"
            )
        }
        var names = ""
        for device in devices where device.isAccelerometer {
            names += names.isEmpty ? "; accelerometers here: " : ", "
            names += device.name.isEmpty ? device.id : device.name
        }
        throw SensorError(.missing, "there is no IIO device \(wanted)\(names)")
    }
}

extension Chip {
    /// Every chip that the driver knows. Of chips with the same identity the first is taken.
    public static let all: [Chip] = [
        adxl345, lis3dh, mpu6050, mpu6500, mpu9250, mpu9255, mpu6886, icm20600, icm20602, icm20608, mma8451, mma8452,
        mma8453, adxl355, adxl357, lis2dw12, lsm6dso, adxl313, bmi160,
        kx134,
    ]

    /// A chip by its name, in any case.
    public static func named(_ name: String) -> Chip? {
        let wanted = name.lowercased()
        return all.first { $0.name == wanted }
    }

    /// All names, for people.
    static var names: String { all.map(\.name).joined(separator: ", ") }
}

extension Chip {
    /// Every chip that the driver knows. What is asked first at an address stands first.
    public static let all: [Chip] = [adxl345, lis3dh, mpu6050]

    /// A chip by its name, in any case.
    public static func named(_ name: String) -> Chip? {
        let wanted = name.lowercased()
        return all.first { $0.name == wanted }
    }

    /// All names, for people.
    static var names: String { all.map(\.name).joined(separator: ", ") }
}

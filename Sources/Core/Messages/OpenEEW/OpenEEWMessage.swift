import Values

/// A second of acceleration as the sensors of OpenEEW send it and openeew-detection reads it: a JSON text that holds JSON,
/// an object with exactly eight members. (Its reader decodes twice, and takes another number of members for another sensor.)
public struct OpenEEWMessage: Sendable {
    /// Values of each axis in a message, and how many a second.
    public static let count = 32
    public static let rate = 31.25

    /// Late it would be a wrong alarm: sent once, and not kept.
    package static let delivery = Delivery(qos: 0, retain: false, content: .json, expiry: 60, priority: .trace)

    private var buffer = OutputBuffer()
    private let header: PublicationHeader
    private let (country, device): (String, String)

    /// - Parameters:
    ///   - country: letters and digits.
    ///   - device: letters, digits, `_` and `-`.
    public init(topic: String, country: String, device: String) {
        header = Self.delivery.header(topic: topic)
        (self.country, self.device) = (country, device)
    }

    /// - Parameters:
    ///   - values: m/s², all of x, then of y and of z.
    ///   - time: of the last ones, nanoseconds of UTC.
    public mutating func send(_ values: [Float], time: Int64, to sink: PublicationSink) {
        buffer.removeAll()
        buffer.append(#""{\"country_code\":\""#)
        buffer.write(country)
        buffer.append(#"\",\"device_id\":\""#)
        buffer.write(device)
        let names: [StaticString] = [#"\",\"x\":"#, #",\"y\":"#, #",\"z\":"#]
        for axis in 0..<3 {
            buffer.append(names[axis])
            for i in 0..<Self.count {
                buffer.append(UInt8(ascii: i == 0 ? "[" : ","))
                // In gal.
                (100 * values[axis * Self.count + i]).write(to: &buffer)
            }
            buffer.append(UInt8(ascii: "]"))
        }
        buffer.append(#",\"device_t\":"#)
        (Double(time) / 1e9).write(to: &buffer)
        buffer.append(#",\"cloud_t\":"#)
        (Double(time) / 1e9).write(to: &buffer)
        buffer.append(#",\"sr\":31.25}""#)
        buffer.withBytes { sink(header, $0) }
    }
}

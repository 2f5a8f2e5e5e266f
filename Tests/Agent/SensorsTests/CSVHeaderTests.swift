import Foundation
import Instruments
import SignalProcessing
import Testing

@testable import Sensors

/// A header's units and names count.
@Suite struct CSVHeaderTests {
    private static let g = standardGravity

    /// Headers of exports, and m/s² of one in each.
    @Test(arguments: [
        // phyphox; with its column of the length.
        (#""Time (s)","Acceleration x (m/s^2)","Acceleration y (m/s^2)","Acceleration z (m/s^2)""#, 1.0),
        (
            #""Time (s)","Linear Acceleration x (m/s^2)","Linear Acceleration y (m/s^2)","Linear Acceleration z (m/s^2)""#,
            1
        ),
        // Physics Toolbox: g-force and acceleration.
        ("time,gFx,gFy,gFz", g), ("time,ax,ay,az", 1), ("time,ax (m/s^2),ay (m/s^2),az (m/s^2)", 1),
        // Arduino sketches.
        ("millis,ax_g,ay_g,az_g", g), ("ms,accX,accY,accZ", 1), ("time_ms,accel_x_mg,accel_y_mg,accel_z_mg", g / 1000),
        ("t,acc_x_m_s2,acc_y_m_s2,acc_z_m_s2", 1), ("t,ax_ms2,ay_ms2,az_ms2", 1),
        // Units in brackets of all kinds.
        ("Time (s),Acceleration X (g),Acceleration Y (g),Acceleration Z (g)", g),
        ("t (s),ax (mg),ay (mg),az (mg)", g / 1000),
        ("t,x (cm/s^2),y (cm/s^2),z (cm/s^2)", 0.01), ("t,x [gal],y [gal],z [gal]", 0.01),
        ("t,X [Gal],Y [Gal],Z [Gal]", 0.01),
        ("t,x (m/s²),y (m/s²),z (m/s²)", 1), ("t,x [m/s/s],y [m/s/s],z [m/s/s]", 1),
        ("t,x (m s^-2),y (m s^-2),z (m s^-2)", 1),
        ("t,x (m·s⁻²),y (m·s⁻²),z (m·s⁻²)", 1e9), ("t,x (mm/s2),y (mm/s2),z (mm/s2)", 1e-3),
        ("t,x (µg),y (µg),z (µg)", g / 1e6),
        ("t,x (ft/s^2),y (ft/s^2),z (ft/s^2)", 0.3048), ("t,x(G),y(G),z(G)", g),
        ("t;Acc. X [mg];Acc. Y [mg];Acc. Z [mg]", g / 1000),
        ("t,x,y,z", 1), ("time,E (cm/s/s),N (cm/s/s),Z (cm/s/s)", 0.01), ("time,HNE,HNN,HNZ", 1),
        ("t,east,north,up", 1),
    ]) func units(_ header: String, _ factor: Double) throws {
        let separator = header.contains(";") ? ";" : ","
        let rows = ["0,1,-2,0.5", "10,2,3,4", "20,2,3,4"].map { $0.replacingOccurrences(of: ",", with: separator) }
        let text = ([header] + rows).joined(separator: "\n")
        let isRelative = header.lowercased().contains("ms,") || header.contains("millis") || header.contains("time_ms")
        let timed =
            isRelative
            ? text
            : text.replacingOccurrences(of: "\n10", with: "\n0.01").replacingOccurrences(of: "\n20", with: "\n0.02")
        // (A power sign that is written high is read as well.)
        let factor = factor == 1e9 ? 1 : factor
        let (delivery, description) = try replay(timed) { $0.scale = nil }
        #expect(description.rate == 100)
        #expect(
            delivery.x.first == factor && delivery.y.first == -2 * factor && delivery.z.first == 0.5 * factor,
            "\(header)")
    }

    /// Columns by their names, in any order, with others between them.
    @Test(arguments: [
        ("t,z,y,x", "0,3,2,1"), ("acc_z,acc_y,acc_x,time", "3,2,1,0"), ("z,y,x,seconds_elapsed,time", "3,2,1,0,0"),
        // Sensor Logger.
        ("time,seconds_elapsed,z,y,x", "0,0,3,2,1"),
        ("time,ax,ay,az,gx,gy,gz,temp", "0,1,2,3,7,8,9,20"), ("t,x,y,z,abs", "0,1,2,3,4"),
        (
            #""Time (s)","Acceleration x (m/s^2)","Acceleration y (m/s^2)","Acceleration z (m/s^2)","Absolute acceleration (m/s^2)""#,
            "0,1,2,3,4"
        ),
        ("time,gyro_x,gyro_y,gyro_z,acc_x,acc_y,acc_z", "0,7,8,9,1,2,3"),
        ("t,x (rad/s),y (rad/s),z (rad/s),ax (m/s2),ay (m/s2),az (m/s2)", "0,7,8,9,1,2,3"),
        ("N,E,Z,t", "2,1,3,0"), ("HN3,HN1,HN2,t", "3,1,2,0"), (",t,x,y,z", "5,0,1,2,3"),
        ("time,gFx,gFy,gFz,TgF", "0,1,2,3,4"),
        ("label,time,X-axis,Y-axis,Z-axis", "a b,0,1,2,3"),
    ]) func columnsByName(_ header: String, _ row: String) throws {
        let time =
            header.split(separator: ",", omittingEmptySubsequences: false).firstIndex {
                $0.lowercased().contains("time") || $0 == "t"
            } ?? 0
        let rows = (0..<3).map { number -> String in
            var words = row.split(separator: ",").map(String.init)
            words[time] = "0.0\(number)"
            return words.joined(separator: ",")
        }
        let (delivery, _) = try replay(([header] + rows).joined(separator: "\n")) { $0.scale = nil }
        let factor = header.contains("gF") ? Self.g : 1
        #expect(
            delivery.x == [1, 1, 1].map { $0 * factor } && delivery.y == [2, 2, 2].map { $0 * factor }
                && delivery.z == [3, 3, 3].map { $0 * factor }, "\(header)")
    }

    /// The five forms that phyphox exports.
    @Test func separatorsAndDecimalCommas() throws {
        let header = [
            "\"Time (s)\"", "\"Acceleration x (m/s^2)\"", "\"Acceleration y (m/s^2)\"", "\"Acceleration z (m/s^2)\"",
        ]
        let rows = [["0.000", "1.5", "-2.5E0", "9.8"], ["1.000E-2", "1.25", "2", "9.75"]]
        for (separator, comma) in [(",", "."), ("\t", "."), (";", "."), ("\t", ","), (";", ",")] {
            let text = ([header] + rows.map { $0.map { $0.replacingOccurrences(of: ".", with: comma) } })
                .map { $0.joined(separator: separator) }.joined(separator: "\n")
            let (delivery, description) = try replay(text + "\n")
            #expect(delivery.x == [1.5, 1.25] && delivery.y == [-2.5, 2] && delivery.z == [9.8, 9.75])
            #expect(description.rate == 100)
        }
        // Decimal commas within quotation marks, and a separator at the end of each line.
        #expect(try replay("t,x,y,z\n\"0,00\",\"1,5\",2,3\n\"0,01\",\"1,5\",2,3\n").delivery.x == [1.5, 1.5])
        #expect(try replay("t,x,y,z,\n0,1,2,3,\n0.01,1,2,3,\n").delivery.z == [3, 3])
    }

    private func error(_ header: String, _ change: (inout ReplaySettings) -> Void = { _ in }, isUnitGiven: Bool = false)
        throws -> String
    {
        try withFile("\(header)\n0.00,1,2,3,4,5,6,7\n0.01,1,2,3,4,5,6,7\n") { path in
            var settings = ReplaySettings(file: path)
            change(&settings)
            var sensor = ReplaySensor(settings, isUnitGiven: isUnitGiven)
            do throws(SensorError) {
                _ = try sensor.open()
                return ""
            } catch { return error.code == .format ? error.message : "\(error.code)" }
        }
    }

    @Test func whatIsAmbiguousNamesTheColumns() throws {
        for (header, parts) in [
            (
                "accelerometerAccelerationX(G),motionUserAccelerationX(G),t,y,z",
                ["several columns for x", "\"accelerometerAccelerationX(G)\", \"motionUserAccelerationX(G)\""]
            ),
            ("t,a,b,c", ["no column for x", "\"t\", \"a\", \"b\", \"c\"", "name them t, x, y, z"]),
            ("x,y,z", ["no column for the time", "\"x\", \"y\", \"z\""]),
            ("t,timestamp,x,y,z", ["several columns for the time", "\"t\", \"timestamp\""]),
            ("t,x,ax,y,z", ["several columns for x", "\"x\", \"ax\""]), ("t,gx,gy,gz", ["no column for x"]),
            ("t,x (g),y (g),z (m/s^2)", ["different units", "\"z (m/s^2)\""]),
        ] {
            let message = try error(header)
            for part in parts { #expect(message.contains(part), "\(header): \(message)") }
            #expect(message.contains("recording.csv:1: "))
        }
    }

    @Test func whatContradictsIsSaid() throws {
        let header = "t,x (g),y (g),z (g),a,b,c,d"
        #expect(try error(header, { $0.scale = PerAxis(1) }).contains("--scale says 1.0"))
        #expect(try error(header, { $0.scale = PerAxis(x: 9.8, y: 9.8, z: 0.01) }).contains("--scale says 0.01"))
        #expect(try error(header, isUnitGiven: true).contains("--unit says m/s^2"))
        #expect(try error("t,x (gal),y (gal),z (gal),a,b,c,d", { $0.unit = .g }).contains("--unit says g"))
        // What says the same does not.
        #expect(try error(header, { $0.scale = PerAxis(9.81) }).isEmpty && error(header, { $0.unit = .g }).isEmpty)
        #expect(try error(header, { $0.scale = PerAxis(x: -9.8, y: 9.81, z: 9.7) }).isEmpty)
    }

    @Test func whatIsNoAccelerationIsRefused() throws {
        for unit in ["m/s", "mm/s", "rad/s", "deg/s", "µT", "cm"] {
            #expect(
                try error("t,x (\(unit)),y (\(unit)),z (\(unit)),a,b,c,d").contains("which is no acceleration"),
                "\(unit)")
        }
        for unit in ["counts", "LSB", "V", "raw"] {
            let header = "t,x (\(unit)),y (\(unit)),z (\(unit)),a,b,c,d"
            #expect(try error(header).contains("--scale"), "\(unit)")
            #expect(try error(header, { $0.scale = PerAxis(0.01) }).isEmpty)
        }
    }

    @Test func tooLargeSamplesAreSaid() throws {
        for (value, isSaid) in [(48.0, false), (49.5, true), (-60, true)] {
            try withFile("t,x,y,z\n0,1,2,9.8\n0.01,1,\(value),9.8\n0.02,1,2,9.8\n") { path in
                var sensor = ReplaySensor(ReplaySettings(file: path))
                _ = try sensor.open()
                #expect(sensor.notes.contains { $0.contains("m/s² (") && $0.contains("scale right") } == isSaid)
            }
        }
    }
}

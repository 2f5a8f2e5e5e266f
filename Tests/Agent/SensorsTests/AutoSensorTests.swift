import Instruments
import Platform
import SignalProcessing
import Testing

@testable import Sensors

@Suite struct AutoSensorTests {
    /// Opens when the script says so, and says with which settings it was made.
    struct Fake: SensorDriver {
        let settings: SensorConfiguration
        let works: @Sendable () -> Bool
        mutating func open() throws(SensorError) -> SensorDescription {
            guard works() else { throw SensorError(.missing, "gone") }
            return SensorDescription(
                driver: settings.driver.rawValue, chip: settings.i2c.chip, rate: settings.rate, clock: .host)
        }
        mutating func read(into block: inout SampleBlock) throws(SensorError) -> ReadOutcome { .end }
        mutating func close() {}
    }

    static let chip = Finding(place: .i2c(bus: 3, address: 0x1d), chip: "adxl345", certainty: .certain)
    static let device = Finding(place: .iio(device: "iio:device1"), chip: "lis3dh", certainty: .certain)

    @Test func theChoiceIsPutIntoTheSettings() throws {
        var sensor = AutoSensor(
            SensorConfiguration(), survey: { Survey(findings: [Self.chip]) },
            make: {
                #expect($0.i2c.bus == 3 && $0.i2c.address == 0x1d && $0.i2c.chip == "adxl345")
                return Fake(settings: $0, works: { true })
            })
        #expect(try sensor.open().driver == "i2c")
        var other = AutoSensor(
            SensorConfiguration(), survey: { Survey(findings: [Self.chip, Self.device]) },
            make: {
                #expect($0.iio.device == "iio:device1")
                return Fake(settings: $0, works: { true })
            })
        #expect(try other.open().driver == "iio")
    }

    @Test func withoutAChoiceTheProblemIsSaid() {
        var sensor = AutoSensor(SensorConfiguration(), survey: { Survey() })
        #expect(throws: SensorError(.missing, "no accelerometer found")) { try sensor.open() }
    }

    /// Looking round takes long; what was there is tried first.
    @Test func whatWasThereIsTriedFirst() throws {
        try Self.reopen(surveys: { Self.count.load(ordering: .relaxed) })
    }

    private static let count = Atomic<Int>(0)
    private static let isThere = Atomic<Bool>(true)

    private static func reopen(surveys: () -> Int) throws {
        var sensor = AutoSensor(
            SensorConfiguration(),
            survey: {
                count.wrappingAdd(1, ordering: .relaxed)
                return Survey(findings: [chip])
            }, make: { Fake(settings: $0, works: { isThere.load(ordering: .relaxed) }) })
        _ = try sensor.open()
        sensor.close()
        _ = try sensor.open()
        #expect(surveys() == 1)
        isThere.store(false, ordering: .relaxed)
        #expect(throws: SensorError.self) { try sensor.open() }
        #expect(surveys() == 2)
        isThere.store(true, ordering: .relaxed)
        _ = try sensor.open()
        #expect(surveys() == 3)
    }
}

import Testing

@testable import Sensors

@Suite struct SurveyTests {
    static let denied = Obstacle(SensorError(.permission, "not permitted"), command: "usermod")
    static let busy = Obstacle(SensorError(.busy, "the kernel's driver has it"))

    static func iio(_ n: Int, _ certainty: Finding.Certainty = .certain, _ obstacles: [Obstacle] = []) -> Finding {
        Finding(place: .iio(device: "iio:device\(n)"), chip: "lis3dh", certainty: certainty, obstacles: obstacles)
    }

    static func chip(_ address: Int, _ certainty: Finding.Certainty = .certain, _ obstacles: [Obstacle] = [])
        -> Finding
    {
        Finding(place: .i2c(bus: 1, address: address), chip: "adxl345", certainty: certainty, obstacles: obstacles)
    }

    @Test func theKernelsDeviceComesBeforeTheBareChipAndTheFirstBeforeTheSecond() {
        #expect(Survey(findings: [Self.chip(0x1d), Self.iio(0), Self.iio(1)]).choice == Self.iio(0))
        #expect(Survey(findings: [Self.chip(0x1d), Self.chip(0x53)]).choice == Self.chip(0x1d))
        #expect(Survey().choice == nil)
    }

    @Test func whatIsNotCertainIsNeverTaken() {
        #expect(Survey(findings: [Self.iio(0, .unknown), Self.chip(0x1d, .named)]).choice == nil)
        #expect(Survey(findings: [Self.iio(0, .unknown), Self.chip(0x1d)]).choice == Self.chip(0x1d))
    }

    @Test func whatCannotBeUsedIsPassedOver() {
        let survey = Survey(findings: [Self.iio(0, .certain, [Self.denied]), Self.chip(0x53)])
        #expect(survey.choice == Self.chip(0x53))
        let pity = Obstacle(SensorError(.unsupported, "no buffer"), isFatal: false)
        #expect(Survey(findings: [Self.iio(0, .certain, [pity])]).choice != nil)
    }

    @Test func theProblemIsThatOfTheBestFinding() {
        let survey = Survey(findings: [
            Self.chip(0x18, .unknown), Self.chip(0x1d, .named, [Self.busy]), Self.iio(0, .certain, [Self.denied]),
        ])
        #expect(survey.problem.code == .permission)
        #expect(Survey(findings: [Self.chip(0x1d, .named, [Self.busy])]).problem.code == .busy)
        #expect(Survey().problem == SensorError(.missing, "no accelerometer found"))
        let noBus = Survey(obstacles: [Obstacle(SensorError(.missing, "no I2C bus"))])
        #expect(noBus.problem == SensorError(.missing, "no accelerometer found: no I2C bus"))
        #expect(Survey(buses: [.init(number: 1, name: "", obstacles: [Self.denied])]).problem.code == .permission)
    }

    @Test func eachCommandIsSaidOnce() {
        let survey = Survey(
            findings: [Self.iio(0, .certain, [Self.denied]), Self.chip(0x53, .certain, [Self.busy])],
            buses: [.init(number: 1, name: "", obstacles: [Self.denied])],
            obstacles: [Obstacle(SensorError(.missing, "x"), command: "modprobe")])
        #expect(survey.commands == ["usermod", "modprobe"])
    }

    @Test func placesAreWrittenAsPeopleKnowThem() {
        #expect(Self.chip(0x1d).placeName == "/dev/i2c-1 0x1d")
        #expect(Self.chip(8).placeName == "/dev/i2c-1 0x08")
        #expect(Self.iio(3).placeName == "iio:device3")
    }
}

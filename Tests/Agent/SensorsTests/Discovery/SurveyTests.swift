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

    @Test func aBusGivesItsChipsAndItsOwners() {
        let owner = I2COwner(address: 0x18, driver: "st-accel-i2c", device: "lis3dh")
        let rtc = I2COwner(address: 0x68, driver: "rtc-ds1307", device: "ds3231")
        let bus = I2CBusInfo(number: 1, name: "bcm2835", ability: .plain, owners: [owner, rtc])
        var survey = Survey()
        survey.take(
            bus,
            [
                (0x19, .nothing), (0x1d, .unknown), (0x53, .chip(name: "adxl345", lookalikes: "")),
                (0x69, .failed(SensorError(.fault, "EIO"))),
            ])
        #expect(survey.findings.map(\.chip) == ["lis3dh", "ds3231", "", "adxl345", ""])
        #expect(survey.findings.map(\.certainty) == [.named, .unknown, .unknown, .certain, .unknown])
        #expect(survey.choice?.place == .i2c(bus: 1, address: 0x53))
        survey.findings.removeAll { $0.chip == "adxl345" }
        #expect(survey.problem.code == .busy)
    }

    @Test func aBusThatIsDeniedSaysWhoGrantsIt() {
        var survey = Survey()
        let denied = SensorError(.permission, "/dev/i2c-1: not permitted")
        survey.take(I2CBusInfo(number: 1, name: "b", ability: .unknown(denied), owners: []), [])
        #expect(survey.choice == nil && survey.problem == denied)
        #expect(survey.commands == ["sudo usermod -aG i2c $USER"])
    }

    /// Chips on a bus for SMBus only can be named, not read.
    @Test func aChipThatCannotBeReadIsNotTaken() {
        var survey = Survey()
        survey.take(
            I2CBusInfo(number: 0, name: "b", ability: .smbusOnly, owners: []),
            [(0x53, .chip(name: "adxl345", lookalikes: ""))])
        #expect(survey.choice == nil && survey.problem.code == .unsupported)
    }

    @Test func whatIsMissingWithoutABusDependsOnTheAdapter() {
        #expect(Survey.noBus(hasAdapter: true).command.contains("modprobe i2c-dev"))
        #expect(Survey.noBus(hasAdapter: false).command.contains("raspi-config"))
    }
}

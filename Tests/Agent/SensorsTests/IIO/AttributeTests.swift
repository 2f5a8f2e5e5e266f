import Testing

@testable import Sensors

@Suite("IIO: attributes") struct IIOAttributeTests {
    @Test("A list of rates: nearest by ratio, zero is never chosen")
    func list() throws {
        let rates = try #require(AvailableValues("0.000000 1 10 25 50 100 200 400 1620\n"))
        #expect(rates == .list([0, 1, 10, 25, 50, 100, 200, 400, 1620]))
        #expect(rates.nearest(to: 104) == 100)
        #expect(rates.nearest(to: 71) == 100)
        #expect(rates.nearest(to: 70) == 50)
        #expect(rates.nearest(to: 5000) == 1620)
        #expect(rates.nearest(to: 0.1) == 1)
        #expect(AvailableValues("0")?.nearest(to: 100) == nil)
    }

    @Test("Not below: for a chip that a timer paces")
    func atLeast() throws {
        let rates = try #require(AvailableValues("1.56 6.25 12.5 50 100 200 400 800"))
        #expect(rates.atLeast(100) == 100)
        #expect(rates.atLeast(100.05) == 100)
        #expect(rates.atLeast(101) == 200)
        #expect(rates.atLeast(2000) == 800)
        #expect(AvailableValues("[4 2 100]")?.atLeast(51) == 52)
        #expect(AvailableValues("[4 2 100]")?.atLeast(300) == 100)
    }

    @Test("A range with a step")
    func range() throws {
        let range = try #require(AvailableValues("[0.5 0.5 100.0]"))
        #expect(range == .range(lowest: 0.5, step: 0.5, highest: 100))
        #expect(range.nearest(to: 33.3) == 33.5)
        #expect(range.nearest(to: 1000) == 100)
        #expect(range.nearest(to: 0.1) == 0.5)
        #expect(AvailableValues("[1 0 10]")?.nearest(to: 3.3) == 3.3)
    }

    @Test("Text without numbers", arguments: ["", "\n", "none", "nan inf"])
    func noNumbers(text: String) { #expect(AvailableValues(text) == nil) }

    @Test("Mount matrix: from the kernel's text; broken and singular ones are refused")
    func mountMatrix() throws {
        let turned = try #require(MountMatrix("0, 1, 0; -1, 0, 0; 0, 0, 1\n"))
        var conversion = Conversion()
        conversion.mount = turned
        let turnedSample = conversion.apply(1, 2, 3)
        #expect(turnedSample == (2, -1, 3))
        #expect(MountMatrix("1, 0, 0; 0, 1, 0; 0, 0, 1") == .identity)
        #expect(MountMatrix("0, 0, 0; 0, 0, 0; 0, 0, 0") == nil)
        #expect(MountMatrix("1, 0, 0; 0, 1, 0") == nil)
        #expect(MountMatrix("a, 0, 0; 0, 1, 0; 0, 0, 1") == nil)
    }

    @Test("Numbers as the kernel reads them")
    func text() {
        #expect(DeviceAttributes.text(100) == "100")
        #expect(DeviceAttributes.text(0.009580) == "0.00958")
        #expect(DeviceAttributes.text(0.000598205) == "0.000598205")
        #expect(DeviceAttributes.text(-1.5) == "-1.5")
        #expect(DeviceAttributes.text(12.5) == "12.5")
        #expect(DeviceAttributes.text(1e-12) == "0")
        #expect(DeviceAttributes.number("0.009580 m/s^2") == 0.009580)
        #expect(DeviceAttributes.number("nan") == nil)
    }
}

@Suite("IIO: choice of the device") struct IIODeviceChoiceTests {
    private let devices: [DeviceChoice.Candidate] = [
        .init(id: "iio:device0", name: "lsm6ds3_gyro", label: "", isAccelerometer: false, hasBuffer: true),
        .init(id: "iio:device1", name: "kxsd9", label: "", isAccelerometer: true, hasBuffer: false),
        .init(id: "iio:device2", name: "lsm6ds3_accel", label: "cellar", isAccelerometer: true, hasBuffer: true),
    ]

    @Test("auto: by the channels, the gyroscope is passed over, one with a buffer comes first")
    func auto() throws {
        #expect(try DeviceChoice.index("auto", of: devices) == 2)
        #expect(try DeviceChoice.index("auto", of: Array(devices[0..<2])) == 1)
    }

    @Test("By name, label and id", arguments: [("kxsd9", 1), ("cellar", 2), ("iio:device1", 1)])
    func named(wanted: String, index: Int) throws { #expect(try DeviceChoice.index(wanted, of: devices) == index) }

    @Test("A device that is no accelerometer, and one that is not there")
    func refused() {
        #expect(throws: SensorError.self) { try DeviceChoice.index("lsm6ds3_gyro", of: devices) }
        #expect {
            try DeviceChoice.index("adxl345", of: devices)
        } throws: { error in
            guard let error = error as? SensorError else { return false }
            return error.code == .missing && error.message.contains("kxsd9, lsm6ds3_accel")
        }
        #expect(throws: SensorError.self) { try DeviceChoice.index("auto", of: Array(devices[0..<1])) }
    }

    @Test("The device's own trigger, from its name alone")
    func ownTrigger() {
        let all = ["t100", "lis3dh-trigger", "mma8452-dev3"]
        #expect(OwnTrigger.byName("lis3dh", "iio:device0", all) == "lis3dh-trigger")
        #expect(OwnTrigger.byName("mma8452", "iio:device3", all) == "mma8452-dev3")
        #expect(OwnTrigger.byName("mma8452", "iio:device1", all) == nil)
        #expect(OwnTrigger.byName("", "iio:device1", ["-trigger"]) == nil)
    }
}

@Suite("IIO: ways to pace a device") struct IIOTriggerPlanTests {
    @Test("auto: own trigger, the one that it has, a timer, our own writes, at last without a buffer")
    func auto() {
        var plan = TriggerPlan()
        #expect(plan.ways(.auto, rate: 100) == [.hrtimer, .sysfs, .polled])
        plan.ownTrigger = "lis3dh-trigger"
        plan.assigned = "lis3dh-trigger"
        #expect(plan.ways(.auto, rate: 100) == [.device("lis3dh-trigger"), .hrtimer, .sysfs, .polled])
        plan.assigned = "t100"
        plan.hasFIFO = true
        #expect(
            plan.ways(.auto, rate: 100) == [
                .own, .device("lis3dh-trigger"), .assigned("t100"), .hrtimer, .sysfs, .polled,
            ])
    }

    @Test("A trigger of another rate that it has: only where none can be made")
    func assignedRate() {
        var plan = TriggerPlan()
        plan.assigned = "t50"
        plan.assignedRate = 50
        #expect(plan.ways(.auto, rate: 100) == [.hrtimer, .sysfs, .assigned("t50"), .polled])
        #expect(plan.ways(.auto, rate: 50) == [.assigned("t50"), .hrtimer, .sysfs, .polled])
        plan.isLocal = false
        #expect(plan.ways(.auto, rate: 100) == [.assigned("t50"), .polled])
    }

    @Test("A device that takes no trigger, and one without a buffer")
    func without() {
        var plan = TriggerPlan()
        plan.takesTrigger = false
        #expect(plan.ways(.auto, rate: 100) == [.own, .polled])
        #expect(plan.ways(.hrtimer, rate: 100).isEmpty)
        plan.hasBuffer = false
        #expect(plan.ways(.auto, rate: 100) == [.polled])
    }

    @Test("From afar no trigger is made")
    func remote() {
        var plan = TriggerPlan()
        plan.isLocal = false
        plan.assigned = "t100"
        #expect(plan.ways(.auto, rate: 100) == [.assigned("t100"), .polled])
        #expect(plan.ways(.hrtimer, rate: 100).isEmpty)
    }

    @Test("What is asked for, and nothing else")
    func asked() {
        var plan = TriggerPlan()
        plan.ownTrigger = "own"
        #expect(plan.ways(.device, rate: 100) == [.device("own")])
        #expect(plan.ways(.hrtimer, rate: 100) == [.hrtimer])
        #expect(plan.ways(.sysfs, rate: 100) == [.sysfs])
        #expect(plan.ways(.none, rate: 100) == [.polled])
    }

    @Test(
        "Only triggers of this program's own making are taken away",
        arguments: [
            ("seismote0", true), ("sysfstrig7303", true), ("sysfstrig3", false), ("t100", false), ("seismotex", false),
        ])
    func ours(name: String, isOurs: Bool) { #expect(LocalTrigger.isOurs(name) == isOurs) }
}

// From what the kernel and the buses say to findings. Pure.

extension Survey {
    /// Takes the devices of an IIO context. What would make a device work worse, or not for this user, is an obstacle
    /// that its driver judges when it is opened.
    public mutating func take(_ inventory: IIOInventory) {
        for device in inventory.devices {
            let obstacles = device.problems.map {
                Obstacle($0.error, command: $0.command, isFatal: $0.error.code == .missing || device.isCapturing)
            }
            var note = device.isAccelerometer ? "" : "no accelerometer"
            if device.isCapturing { note = "in use: a program is capturing" }
            findings.append(
                Finding(
                    place: .iio(device: device.id), chip: device.name,
                    certainty: device.isAccelerometer ? .certain : .unknown, kernelDriver: device.driver,
                    obstacles: device.isAccelerometer ? obstacles : [], note: note))
        }
    }

    /// Takes a bus and what was found at its addresses.
    public mutating func take(_ bus: I2CBusInfo, _ found: [(address: UInt8, who: I2CIdentification)]) {
        var obstacles: [Obstacle] = []
        switch bus.ability {
        case .plain: break
        case .smbusOnly:
            obstacles.append(
                Obstacle(
                    SensorError(.unsupported, "/dev/i2c-\(bus.number): SMBus transfers only, chips cannot be read")))
        case .unknown(let error):
            obstacles.append(Obstacle(error, command: error.code == .permission ? Obstacle.addToI2CGroup : ""))
        }
        buses.append(Bus(number: bus.number, name: bus.name, obstacles: obstacles))
        for owner in bus.owners { take(owner, bus.number) }
        for (address, who) in found {
            let place = Finding.Place.i2c(bus: bus.number, address: Int(address))
            switch who {
            case .nothing: break
            case .owned(let owner):
                if !bus.owners.contains(where: { $0.address == owner.address }) { take(owner, bus.number) }
            case .chip(let name, let lookalikes):
                findings.append(
                    Finding(
                        place: place, chip: name, certainty: .certain, obstacles: obstacles,
                        note: lookalikes.isEmpty ? "" : "or \(lookalikes), which is read alike"))
            case .unknown:
                findings.append(
                    Finding(
                        place: place, chip: "", certainty: .unknown, note: "a chip answers, but it is not a known one"))
            case .failed(let error):
                findings.append(Finding(place: place, chip: "", certainty: .unknown, obstacles: [Obstacle(error)]))
            }
        }
    }

    private mutating func take(_ owner: I2COwner, _ bus: Int) {
        let isKnown = Chip.named(owner.device) != nil
        var finding = Finding(
            place: .i2c(bus: bus, address: Int(owner.address)), chip: owner.device,
            certainty: isKnown ? .named : .unknown, kernelDriver: owner.driver, note: "in use by a kernel driver")
        if isKnown {
            let message = "the kernel's driver \(owner.driver) has \(owner.device) at \(finding.placeName)"
            finding.obstacles = [Obstacle(SensorError(.busy, message))]
        }
        findings.append(finding)
    }
}

/// All that was found on a machine, and what it comes to. Pure: made from what others have read.
public struct Survey: Sendable, Equatable {
    /// An I2C bus.
    public struct Bus: Sendable, Equatable {
        public var number: Int
        /// Name of its adapter.
        public var name: String
        /// Obstacles to looking at it, or reading it.
        public var obstacles: [Obstacle]

        public init(number: Int, name: String, obstacles: [Obstacle] = []) {
            self.number = number
            self.name = name
            self.obstacles = obstacles
        }
    }

    public var findings: [Finding]
    public var buses: [Bus]
    /// Obstacles to a whole kind of sensors: no libiio, no bus.
    public var obstacles: [Obstacle]

    public init(findings: [Finding] = [], buses: [Bus] = [], obstacles: [Obstacle] = []) {
        self.findings = findings
        self.buses = buses
        self.obstacles = obstacles
    }

    /// Sensor that `driver: auto` takes: among certain ones that no other process uses, the devices of the kernel
    /// before bare chips, each kind in its order. Sensors that can be used come before those that perhaps cannot.
    public var choice: Finding? {
        let usable = findings.filter(\.isUsable)
        let clean = usable.filter(\.obstacles.isEmpty)
        for list in [clean, usable] {
            if let best = list.first(where: \.place.isIIO) ?? list.first { return best }
        }
        return nil
    }

    /// Reason why there is no choice: the obstacle of the best that was found, or that nothing was.
    public var problem: SensorError {
        // What is certain says most, then what a bus or the machine lacks.
        for certainty in [Finding.Certainty.certain, .named] {
            for finding in findings where finding.certainty == certainty {
                if let obstacle = finding.obstacles.first(where: \.isFatal) { return obstacle.error }
            }
        }
        for obstacle in buses.flatMap(\.obstacles) + obstacles where obstacle.error.code == .permission {
            return obstacle.error
        }
        let missing = obstacles.map(\.error.message).joined(separator: "; ")
        return SensorError(.missing, "no accelerometer found" + (missing.isEmpty ? "" : ": " + missing))
    }

    /// Every command that mends something, each once.
    public var commands: [String] {
        var commands: [String] = []
        let all = findings.flatMap(\.obstacles) + buses.flatMap(\.obstacles) + obstacles
        for obstacle in all where !obstacle.command.isEmpty && !commands.contains(obstacle.command) {
            commands.append(obstacle.command)
        }
        return commands
    }
}

extension Finding.Place {
    public var isIIO: Bool {
        if case .iio = self { return true }
        return false
    }
}

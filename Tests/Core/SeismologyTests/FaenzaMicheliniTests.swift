import Testing

@testable import Seismology

@Suite struct FaenzaMicheliniTests {
    /// gal, cm/s, and what ShakeMap's own code (esi-shakelib 1.2.1, `FM11.getMIfromGM`) makes of them.
    @Test func agreesWithShakeMap() {
        let accelerations = [
            (0.1, 1.0), (0.5, 1.0), (1, 1.680000000000001), (3, 2.9109728371767294), (10, 4.26),
            (31.4, 5.542078492028895), (100, 6.84), (250, 7.866685222373857), (490, 8.620705886473566),
            (981, 9.398506039040267), (1600, 9.946629555252287), (3000, 10),
        ]
        for (gal, mcs) in accelerations { #expect(abs(FaenzaMichelini2010.mcs(pga: gal / 100) - mcs) < 1e-9) }
        let velocities = [
            (0.01, 1.0), (0.0177, 1.0), (0.1, 2.7600000000000007), (0.3, 3.8812349485912065), (1, 5.11),
            (2.5, 6.045159020379288), (10, 7.460000000000001), (31, 8.61469998051054), (80, 9.582261469431067),
            (120, 9.99607592821192), (200, 10),
        ]
        for (speed, mcs) in velocities { #expect(abs(FaenzaMichelini2010.mcs(pgv: speed / 100) - mcs) < 1e-9) }
    }

    @Test func prefersVelocityOnTheScaleOfMercalliCancaniSieberg() throws {
        let relation = try #require(IntensityRelation(rawValue: "faenza_michelini10"))
        let estimate = try #require(relation.estimate(pga: 1, pgv: 0.1))
        #expect(estimate.value == estimate.fromPGV && abs(estimate.value - 7.46) < 1e-9 && estimate.sigma == 0.26)
        #expect(abs((estimate.fromPGA ?? 0) - 6.84) < 1e-9)
        #expect(relation.scale.rawValue == "mcs" && relation.scale.roman(7.46) == "VII")
        #expect(relation.scale.color(7.46) == "#ffc800" && relation.scale.grade(7.46) == nil)
    }
}

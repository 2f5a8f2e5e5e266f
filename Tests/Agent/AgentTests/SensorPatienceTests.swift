import Instruments
import Messages
import Sensors
import Testing

@testable import Agent

@Suite struct SensorPatienceTests {
    /// At boot the agent came before udev had given the bus to its group: an alert that came and went.
    @Test func theFirstSecondsAfterBootAreWaitedForQuietly() {
        func waits(
            _ code: SensorError.Code, hadSensor: Bool = false, begun: Int64 = 5, seconds: Int64 = 10
        ) -> Bool {
            SensorPatience.waits(
                .sensor(SensorError(code, "x")), hadSensor: hadSensor, begun: begun * 1_000_000_000,
                sinceBoot: seconds * 1_000_000_000)
        }
        #expect(waits(.permission) && waits(.missing) && waits(.permission, seconds: 34))
        #expect(!waits(.permission, seconds: 35) && !waits(.missing, seconds: 3600))
        // A slow board, and an agent that was started later by somebody.
        #expect(waits(.permission, begun: 50, seconds: 79) && !waits(.permission, begun: 50, seconds: 80))
        #expect(!waits(.permission, begun: 120, seconds: 121))
        // What udev cannot mend, and what had been there.
        #expect(!waits(.identity) && !waits(.busy) && !waits(.fault) && !waits(.unsupported))
        #expect(!waits(.permission, hadSensor: true) && !waits(.missing, hadSensor: true))
        #expect(!SensorPatience.waits(nil, hadSensor: false, begun: 0, sinceBoot: 0))
    }

    /// The alert came after all, at the moment at which udev was ready: the sensor was open, and its first block not there.
    @Test func aSensorThatWasJustOpenedHasNotComeBeforeItsFirstBlock() {
        var words = SamplingStatus.Words()
        #expect(!SensorPatience.hasSensor(words))
        words.problem = .sensor(SensorError(.permission, "x"))
        words.sensor = SensorDescription(driver: "i2c", chip: "adxl345", rate: 25, clock: .host)
        #expect(!SensorPatience.hasSensor(words))
        words.problem = nil
        #expect(SensorPatience.hasSensor(words))
    }
}

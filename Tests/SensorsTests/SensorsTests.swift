@testable import Sensors

@testable import Seismology

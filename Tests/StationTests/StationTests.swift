@testable import Station

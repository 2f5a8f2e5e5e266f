@testable import Settings

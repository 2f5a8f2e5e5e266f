@testable import Link

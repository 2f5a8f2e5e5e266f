@testable import MiniSEED

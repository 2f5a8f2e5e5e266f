@testable import Messages

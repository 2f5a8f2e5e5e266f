@testable import Agent

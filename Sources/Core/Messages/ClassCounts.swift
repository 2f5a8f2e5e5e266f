/// A number for each class of message. Not an array, so that counting never touches the heap.
public struct ClassCounts: Sendable, Equatable {
    public var essential = 0
    public var state = 0
    public var trace = 0

    public init() {}

    public var total: Int { essential + state + trace }

    public subscript(priority: Priority) -> Int {
        get {
            switch priority {
            case .essential: essential
            case .state: state
            case .trace: trace
            }
        }
        set {
            switch priority {
            case .essential: essential = newValue
            case .state: state = newValue
            case .trace: trace = newValue
            }
        }
    }

    public static func + (a: ClassCounts, b: ClassCounts) -> ClassCounts {
        var sum = a
        sum.essential += b.essential
        sum.state += b.state
        sum.trace += b.trace
        return sum
    }
}

/// Three values of the same kind, one for each axis.
public struct PerAxis<Value: Sendable & Equatable>: Sendable, Equatable {
    public var x: Value
    public var y: Value
    public var z: Value

    public init(_ all: Value) { (x, y, z) = (all, all, all) }
    public init(x: Value, y: Value, z: Value) { (self.x, self.y, self.z) = (x, y, z) }

    /// 0, 1, 2 is x, y, z.
    public subscript(axis: Int) -> Value {
        get { axis == 0 ? x : axis == 1 ? y : z }
        set {
            switch axis {
            case 0: x = newValue
            case 1: y = newValue
            default: z = newValue
            }
        }
    }
}

import Glibc

/// Ends the program with a reason, for libFuzzer to keep the input.
public func check(_ holds: Bool, _ what: @autoclosure () -> String) {
    if holds { return }
    print("WRONG: \(what())")
    fflush(nil)
    abort()
}

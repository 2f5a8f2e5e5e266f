import Checking
import Glibc
import LibFuzzer
import SignalProcessing

/// Any filter at any rate: either it is refused with a reason, or it is stable, lets nothing through but finite numbers,
/// and has a finite response.
private func filterDesigner(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
    var choices = Choices(Array(UnsafeBufferPointer(start: data, count: size)))
    let rate = choices.byte() % 4 == 3 ? Double(bitPattern: choices.pattern()) : choices.rate()
    let specification = choices.filter(rate: rate)
    let design: FilterSpecification.Design
    do throws(FilterDesignError) {
        design = try specification.design(rate: rate)
    } catch {
        check(!error.description.isEmpty, "a reason without words")
        return 0
    }
    for motion in [0.0, 0.3, 1] {
        let held = design.held(motion: motion)
        for s in held.sections {
            check(
                s.b0.isFinite && s.beta1.isFinite && s.beta2.isFinite && s.e1.isFinite && s.e2.isFinite,
                "\(specification) at \(rate): \(s)")
        }
        for pole in held.poles(rate: rate) {
            check(pole.re * pole.re + pole.im * pole.im <= 1, "\(specification) at \(rate): pole \(pole)")
        }
        for share in [0, 1e-9, 0.01, 0.2, 0.5] {
            let response = held.response(at: share * rate, rate: rate)
            check(response.gain.isFinite && response.gain < 1e9, "\(specification) at \(rate): \(response)")
        }
    }
    check(design.settlingTime(rate: rate) >= 0, "\(specification) at \(rate): \(design.settlingTime(rate: rate))")
    run(design, choices, "\(specification) at \(rate)")
    return 0
}

@main enum FilterDesigner {
    static func main() {
        var (count, words) = (CommandLine.argc, Optional(CommandLine.unsafeArgv))
        exit(LLVMFuzzerRunDriver(&count, &words, filterDesigner))
    }
}

/// Samples up to the largest that the pipeline lets in.
private func run(_ design: FilterSpecification.Design, _ choices: Choices, _ what: @autoclosure () -> String) {
    var (choices, x) = (choices, [Double](repeating: 0, count: 400))
    var noise = Noise(state: UInt64(choices.byte()))
    let strength = choices.one(of: [1, Double.leastNormalMagnitude / 100, 1e6, 1e-12])
    for i in x.indices { x[i] = choices.flag() ? strength : strength * noise.number() }
    var (y, z) = (x, [Double](repeating: strength, count: x.count))
    var filter = AxisFilter(design, design, design)
    filter.process(&x, &y, &z, count: x.count)
    for value in x + y + z { check(value.isFinite && abs(value) < 1e15, "\(what()): \(value)") }
}

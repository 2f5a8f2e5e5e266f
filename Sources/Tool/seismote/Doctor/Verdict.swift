import Messages

/// One thing that is wrong, and what to do about it.
struct Diagnosis: Equatable {
    enum Severity: String { case warning, error }

    /// The same in every release, for programs.
    var code: String
    var severity: Severity
    /// A sentence that names the thing and its value.
    var message: String
    /// Remedy, with the command where there is one.
    var remedy: String

    init(_ code: String, _ severity: Severity, _ message: String, remedy: String) {
        (self.code, self.severity, self.message, self.remedy) = (code, severity, message, remedy)
    }

    /// An error.
    init(_ code: String, _ message: String, remedy: String) { self.init(code, .error, message, remedy: remedy) }
}

/// Result of a check.
enum Verdict: Equatable {
    case fine(String)
    case wrong(Diagnosis)
    /// Could not be looked at, with the reason.
    case skipped(String)

    var diagnosis: Diagnosis? {
        if case .wrong(let diagnosis) = self { return diagnosis }
        return nil
    }
}

/// A fact that was looked up, or the reason why it could not be.
enum Known<Fact> {
    case known(Fact)
    case unknown(String)

    var fact: Fact? {
        if case .known(let fact) = self { return fact }
        return nil
    }

    /// Judges the fact; what is unknown is skipped.
    func judge(_ body: (Fact) -> [Verdict]) -> [Verdict] {
        switch self {
        case .known(let fact): body(fact)
        case .unknown(let reason): [.skipped(reason)]
        }
    }
}

/// A check that looks at what no other needs: its file has what it looks for, how, and what that comes to.
protocol OwnCheck: Sendable {
    associatedtype Fact
    static var name: String { get }
    /// Looks at the machine.
    static func gather(_ settings: SettingsFacts) -> Known<Fact>
    /// Pure.
    static func judge(_ fact: Fact) -> [Verdict]
}

/// A check of `seismote doctor`: a pure function from what was gathered to verdicts.
struct DoctorCheck: Sendable {
    var name: String
    /// Gathers what it alone needs; nil: it judges what is gathered for several.
    var gather: (@Sendable (inout Facts) -> Void)?
    var judge: @Sendable (Facts) -> [Verdict]

    init(name: String, judge: @escaping @Sendable (Facts) -> [Verdict]) {
        (self.name, self.judge) = (name, judge)
    }

    init<Check: OwnCheck>(_ check: Check.Type) {
        name = Check.name
        gather = { $0[Check.self] = Check.gather($0.settings) }
        judge = { $0[Check.self].judge(Check.judge) }
    }

    /// All of them, in the order in which they are told: what others depend on comes first.
    static let all = [
        DoctorCheck(name: "settings", judge: SettingsCheck.judge),
        DoctorCheck(name: "permissions", judge: PermissionCheck.judge),
        DoctorCheck(name: "service", judge: ServiceCheck.judge),
        DoctorCheck(name: "agent", judge: StateCheck.judge),
        DoctorCheck(name: "version", judge: VersionCheck.judge),
        DoctorCheck(name: "clock", judge: ClockCheck.judge),
        DoctorCheck(name: "disk", judge: DiskCheck.judge),
        DoctorCheck(CardCheck.self),
        DoctorCheck(PowerCheck.self),
        DoctorCheck(name: "broker", judge: BrokerCheck.judge),
        DoctorCheck(name: "certificates", judge: CertificateCheck.judge),
        DoctorCheck(name: "rights", judge: RightsCheck.judge),
        DoctorCheck(name: "identity", judge: IdentityCheck.judge),
        DoctorCheck(name: "leftovers", judge: LeftoverCheck.judge),
        DoctorCheck(name: "sensor", judge: SensorCheck.judge),
        DoctorCheck(name: "mounting", judge: MountingCheck.judge),
        DoctorCheck(name: "alerts", judge: AlertCheck.judge),
    ]
}

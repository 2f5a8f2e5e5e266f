/// What commands may ask for, in seconds: the same numbers for who asks and for who is asked.
public enum CommandLimits {
    /// `confirm_s` of a change of the settings.
    public static let confirm = 1.0...3600.0
    /// `duration_s` of `stream`; 0 ends it.
    public static let stream = 0.0...3600.0
    /// `duration_s` of `calibrate`.
    public static let calibration = 1.0...600.0
    /// `duration_s` of `log`; 0 ends it.
    public static let log = 0.0...86_400.0
    /// `last_s` of `snapshot`; `to` comes at most so much after `from`.
    public static let snapshot = 0.01...604_800.0
    /// What a group is asked is carried out after a random delay of up to so long, so that not all answer at once.
    public static let groupDelay = 5.0
    /// The same of `restart`.
    public static let groupRestartDelay = 30.0
}

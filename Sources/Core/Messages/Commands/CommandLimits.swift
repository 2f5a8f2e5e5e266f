/// What a change of the settings may ask for: the same numbers for who asks and for who is asked. (The limits of commands
/// are with their declarations, in the room Commands.)
public enum CommandLimits {
    /// `confirm_s`, in seconds.
    public static let confirm = 1.0...3600.0
}

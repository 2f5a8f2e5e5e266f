/// Limits of a change of the settings: the same numbers for sender and station. (The limits of commands are with their
/// declarations, in the room Commands.)
public enum CommandLimits {
    /// `confirm_s`, in seconds.
    public static let confirm = 1.0...3600.0
}

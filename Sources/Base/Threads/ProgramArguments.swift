import CLinux

/// The command line of the program, the program's name first. Unlike `CommandLine.arguments` it needs no /proc.
public enum ProgramArguments {
    public static var all: [String] {
        guard let words = clinux_arguments() else { return [] }
        var texts: [String] = []
        while let word = words[texts.count] { texts.append(String(cString: word)) }
        return texts
    }
}

import Foundation

/// Files that tests compare with, in `Tests/Vectors`.
public enum Vectors {
    /// The folder itself.
    public static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Vectors")

    /// One file by its path below the folder.
    public static func url(_ path: String) -> URL { folder.appendingPathComponent(path) }

    public static func data(_ path: String) throws -> Data { try Data(contentsOf: url(path)) }

    /// A JSON file as Foundation's plain objects.
    public static func json(_ path: String) throws -> Any {
        try JSONSerialization.jsonObject(with: data(path))
    }
}

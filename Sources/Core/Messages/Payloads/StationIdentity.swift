/// Which station this is and where: the part `station` of the settings, published as it is in `state/info`.
public struct StationIdentity: Sendable, Equatable {
    /// `[A-Za-z0-9_-]{1,64}`; empty until the host name has been put in.
    public var id = ""
    public var network = "XX"
    public var code = ""
    public var location = "00"
    public var latitude: Double?
    public var longitude: Double?
    public var elevation: Double?
    public var description = ""
    public var groups: [String] = []

    public init() {}

    package func fields(_ f: inout some FieldVisitor) {
        f.text("id", id, "Id of the station, part of its topics.")
        f.text("network", network, "Network code (FDSN).")
        f.text("code", code, "Station code (FDSN).")
        f.text("location", location, "Location code (FDSN).")
        f.number("latitude", latitude, unit: "deg", "Degrees north; left out when not given.")
        f.number("longitude", longitude, unit: "deg", "Degrees east; left out when not given.")
        f.number("elevation_m", elevation, unit: "m", "Above sea level; left out when not given.")
        f.text("description", description, "For people.")
        f.texts("groups", groups, "Groups that it belongs to, besides `all`.")
    }
}

/// Name of one channel of data after the FDSN Source Identifiers definition:
/// `FDSN:NETWORK_STATION_LOCATION_BAND_SOURCE_SUBSOURCE`.
public struct SourceIdentifier: Sendable, Hashable, CustomStringConvertible {
    public var network: String
    public var station: String
    public var location: String
    /// Rate and response of the instrument; `H` is broad band from 80 Hz on.
    public var band: String
    /// Kind of instrument; `N` is an accelerometer.
    public var source: String
    /// Orientation: `Z`, `N`, `E`, or `1`, `2`, `3`.
    public var subsource: String

    public init(
        network: String, station: String, location: String, band: String, source: String, subsource: String
    ) {
        self.network = network
        self.station = station
        self.location = location
        self.band = band
        self.source = source
        self.subsource = subsource
    }

    /// From a SEED channel code: three characters such as `HNZ` are band, source and subsource.
    /// Any other text goes into the subsource alone.
    public init(network: String, station: String, location: String, channel: String) {
        let codes = Array(channel)
        let short = codes.count == 3
        self.init(
            network: network, station: station, location: location,
            band: short ? String(codes[0]) : "", source: short ? String(codes[1]) : "",
            subsource: short ? String(codes[2]) : channel)
    }

    /// From the text form; nil when it does not have the scheme `FDSN:` and six parts.
    public init?(_ text: String) {
        guard text.hasPrefix("FDSN:") else { return nil }
        let parts = text.dropFirst(5).split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 6 else { return nil }
        self.init(
            network: String(parts[0]), station: String(parts[1]), location: String(parts[2]), band: String(parts[3]),
            source: String(parts[4]), subsource: String(parts[5]))
    }

    /// Channel code of miniSEED 2: `HNZ`; longer than three characters when the parts are not one character each.
    public var channel: String { band + source + subsource }

    /// `FDSN:NETWORK_STATION_LOCATION_BAND_SOURCE_SUBSOURCE`.
    public var description: String {
        "FDSN:\(network)_\(station)_\(location)_\(band)_\(source)_\(subsource)"
    }
}

/// Version of this product, as `seismote version` and `state/info` give it.
public let productVersion = "0.1.0"

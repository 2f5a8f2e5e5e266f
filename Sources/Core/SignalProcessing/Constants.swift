/// Standard gravity in m/s², exact by definition (3rd CGPM, 1901).
public let standardGravity = 9.80665

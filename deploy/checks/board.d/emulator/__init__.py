"""A program that is an I2C adapter with a chip on it, for the kernel of the same machine. See __main__.py."""

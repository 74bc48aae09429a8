"""The command `noisyeval`."""

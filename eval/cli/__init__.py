"""The commands `noisyeval` and `noisyaudit`."""

"""What a cell is scored by, ELA and RLA, and the registry of all measures."""

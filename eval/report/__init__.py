"""Reports: files, console output and citations of a run."""

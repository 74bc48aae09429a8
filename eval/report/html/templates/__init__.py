"""Templates of the HTML report."""

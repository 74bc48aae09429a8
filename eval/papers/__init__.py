"""Published numbers and claims of papers, and checks of a run against them."""

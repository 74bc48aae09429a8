"""Models: short names, allowed classes and parameters, and the factory that builds them."""

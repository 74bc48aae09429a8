"""The error of a user's input."""


class ConfigError(ValueError):
    """What the user asked for cannot be run; the message says what, where and why, one line per problem."""

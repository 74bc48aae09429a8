"""Extensions of boostnoise; ``pyproject.toml`` gives them their names."""

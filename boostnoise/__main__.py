"""Run the command `noisyeval` as `python -m boostnoise`."""

import sys

# `python -m` puts the working directory first on the module path; the installed command does not.
if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]

    from .eval.cli.entry import noisyeval

    noisyeval()

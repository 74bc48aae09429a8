"""`python -m boostnoise` is the command `noisyeval`."""

import sys

# Without being asked for it, Python looks for modules in the working directory first; the command does not.
if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]

    from .eval.cli.main import main

    main(prog_name="noisyeval")

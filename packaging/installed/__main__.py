"""``python -m custos COMMAND``: the same as the command ``custos``."""

import sys

from custos.engine.__main__ import main

if __name__ == "__main__":
    sys.exit(main())

"""What the frozen command line starts with."""

import multiprocessing
import sys

if __name__ == "__main__":
    multiprocessing.freeze_support()
    from engine.__main__ import main

    sys.exit(main())

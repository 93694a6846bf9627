"""What the frozen command line starts with."""

import multiprocessing
import sys

if __name__ == "__main__":
    multiprocessing.freeze_support()
    if sys.argv[1:2] == ["--read-packages"]:  # files of statistics packages are read by a process of its own
        from engine.table.reading.package_reader import serve

        with open(0, "rb") as asked, open(1, "wb") as told:
            serve(asked, told)
        sys.exit(0)
    from engine.__main__ import main

    sys.exit(main())

"""``python -m app [PLAN, TABLE OR RELEASE] [--lang LANG] [--theme NAME] [--debug]``: open the window."""

from __future__ import annotations

import multiprocessing
import os
import sys

COMMAND = "python -m app" if __package__ == "app" and not hasattr(sys, "frozen") else "custos-desktop"
"""How it is started: from a checkout, or installed or built."""


def main(arguments: list[str] | None = None) -> int:
    """Show the window and return its exit status."""
    import argparse

    parser = argparse.ArgumentParser(prog=COMMAND, description="Release data about people, offline.")
    parser.add_argument("file", nargs="?", help="a plan (.json), a table, or the folder of a release to open")
    parser.add_argument("--lang", help="language of the texts, for instance en")
    parser.add_argument("--theme", choices=("system", "light", "dark"), help="colours")
    parser.add_argument(
        "--debug",
        action="store_true",
        help="print what goes wrong in full; for developers, as it may quote a cell (or set CUSTOS_DEBUG=1)",
    )
    given = parser.parse_args(sys.argv[1:] if arguments is None else arguments)

    from app.application import make_application, open_window
    from app.log import DEBUG
    from app.state.settings import Settings

    if given.debug:
        os.environ[DEBUG] = "1"
    settings = Settings()
    application = make_application(sys.argv[:1], settings, language=given.lang, look=given.theme)
    return open_window(application, settings, given.file)


if __name__ == "__main__":
    multiprocessing.freeze_support()
    sys.exit(main())

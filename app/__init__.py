"""The window of Custos."""

# As in `engine/__init__.py`, which is not found safely before this: nothing comes from the working folder.
import os
import sys

if sys.argv[:1] == ["-m"]:
    _here = os.path.realpath(os.getcwd())  # noqa: PTH109 - pathlib would come from there too
    _root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120
    if _here != _root:
        sys.path[:] = [_place for _place in sys.path if os.path.realpath(_place) != _here]
        os.environ["PYTHONSAFEPATH"] = "1"  # for processes that this one starts

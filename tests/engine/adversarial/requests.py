"""Plans over one odd little schema, for every method, and tables that try to break out."""

from __future__ import annotations

from fractions import Fraction

from engine.methods.catalogue import method as method_of
from engine.methods.protocol import MAIN, Budget
from engine.privacy.promise import Neighbours
from engine.release.plan import FileReference, Plan
from engine.table.schema import Column, Domain, Kind, Origin, Role, Schema

OPTIONS = {
    "format": "text",
    "delimiter": ",",
    "encoding": "utf-8",
    "header": True,
    "skip_rows": 0,
    "decimal": ".",
    "thousands": "",
    "quote": '"',
    "escape": "",
    "line_ends": "\n",
    "multiline": False,
    "date_order": "dmy",
    "width": 6,
}
HEADER = "person,sex,visits,score,weight,seen"


def _declared(name: str, kind: Kind, role: Role = Role.OTHER, **domain: object) -> Column:
    return Column(name, role, kind, Domain(**domain) if domain else None, Origin.DECLARED)  # type: ignore[arg-type]


KEY = Column("person", Role.PERSON_KEY, Kind.INTEGER, missing=("-9",))
COLUMNS = (
    _declared("sex", Kind.CATEGORY, values=("f", "m")),
    _declared("visits", Kind.INTEGER, values=("1", "2")),
    _declared("score", Kind.NUMBER, minimum=Fraction(-2), maximum=Fraction(3), step=Fraction(1, 2)),
    _declared("weight", Kind.INTEGER, Role.WEIGHT, minimum=Fraction(1), maximum=Fraction(3)),
    Column("seen", Role.TIME, Kind.DATE),
)
PARAMETERS: dict[str, tuple[str, dict[str, object]]] = {
    "counts": ("statistics.counts", {"columns": ["sex", "visits"], "totals": True}),
    "counts of scores": ("statistics.counts", {"columns": ["score"], "extra_cells": "together"}),
    "gaussian counts": ("statistics.counts", {"columns": ["sex"], "noise": "gaussian"}),
    "counts of a slot": ("statistics.counts", {"columns": ["sex"], "noise": "gaussian", "slot": "sex"}),
    "histogram": ("statistics.histogram", {"column": "score", "edges": [-1, 0, 1], "by": ["sex"]}),
    "days": (
        "statistics.histogram",
        {"column": "seen", "edges": ["2020-01-01", "2020-06-01", "2021-01-01"], "outside": "clamped"},
    ),
    "sum": ("statistics.means", {"statistic": "sum", "value": "score", "by": ["sex"]}),
    "weighted sum": ("statistics.means", {"statistic": "sum", "value": "score", "weight": "weight"}),
    "mean": ("statistics.means", {"statistic": "mean", "value": "score", "by": ["sex"]}),
    "weighted mean": ("statistics.means", {"statistic": "mean", "value": "score", "weight": "weight"}),
    "whole mean": (
        "statistics.means",
        {"statistic": "mean", "value": "score", "by": ["sex"], "strategy": "compose"},
    ),
    "weighted whole mean": (
        "statistics.means",
        {"statistic": "mean", "value": "score", "by": ["sex"], "strategy": "compose", "weight": "weight"},
    ),
    "proportion": (
        "statistics.means",
        {"statistic": "proportion", "answer": "visits", "counted": [{"value": "2"}], "by": ["sex"]},
    ),
    "quantiles": (
        "statistics.quantiles",
        {"value": "score", "quantiles": ["1/4", "2/3"], "by": ["sex"], "extra_cells": "left_out"},
    ),
    "margins": ("statistics.margins", {"columns": ["sex", "visits"], "tables": "totals"}),
    "median": ("statistics.quantiles", {"value": "score", "quantiles": ["1/2"]}),
}


def plan_for(
    name: str,
    *,
    cap: int | None = None,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    **changes: object,
) -> Plan:
    """Return the plan of a case; ``cap`` rows of a person, or every row for itself with None."""
    method, parameters = PARAMETERS[name]
    delta = Fraction(1, 1000) if parameters.get("noise") == "gaussian" else Fraction(0)
    columns = COLUMNS if cap is None else (KEY, *COLUMNS)
    given = {
        "method": method,
        "files": {MAIN: FileReference("people.csv", OPTIONS)},
        "schemas": {MAIN: Schema(columns, cap or 1)},
        "parameters": parameters,
        "budget": Budget(Fraction(1), delta, neighbours),
        "holding": "Register",
        "holding_budget": Budget(Fraction(4), max(delta, Fraction(0)), neighbours),
    }
    given["method_version"] = method_of(str((given | changes)["method"])).version
    return Plan(**(given | changes))  # type: ignore[arg-type]


ROWS = (
    "1,f,1,0.5,1,01/02/2020",
    "1,m,2.0,1.0,2,2020-03-01",
    "2,f,1.0,-2,3,15/05/2020",
    " 3,m,2,3,1,",
    "4.0,x,7,,1,01/02/2020",
)
ODD_ROWS = {
    "an ordinary row": "7,f,1,1,1,01/03/2020",
    "text in every column": "oops,oops,oops,oops,oops,oops",
    "nothing at all": ",,,,,",
    "not a number": "nan,nan,nan,nan,nan,nan",
    "infinity": "inf,f,inf,-inf,inf,inf",
    "a huge number": "9" * 30 + ",f,1e308,-1e308,1e400,99/99/9999",
    "another order of dates": "8,m,2,0,1,12/25/2020",
    "another time zone": "8,m,2,0,1,2020-03-01T00:00:00.123456789+14:00",
    "another decimal mark": '9,f,"1,5","1,5","1,5",1.2.2020',
    "leading zeros": "001,f,01,00.5,02,2020-1-1",
    "hexadecimal": "0x1,f,0x1,0x2,0x2,0x7",
    "a code that says missing": "-9,f,NA,NA,NA,NA",
    "bytes of another encoding": "ä\x85,f,1,1,1,01/03/2020",
    "a formula": "=1+1,=1+1,=1+1,=1+1,=1+1,=1+1",
    "a cell of many lines": '8,"f\n\nf",1,1,1,01/03/2020',
    "a very long cell": "8,f,1,1,1," + "x" * 5000,
    "too many cells": "8,f,1,1,1,01/03/2020,a,b,c",
    "too few cells": "8,f",
}


def table(rows: tuple[str, ...]) -> bytes:
    """Return the rows as a file."""
    return ("\n".join((HEADER, *rows)) + "\n").encode("utf-8").replace("\x85".encode(), b"\x85")

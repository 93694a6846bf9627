"""The complete rows of Adult and their hierarchies, as ladders."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from engine.methods.datasets.conditions import Condition
from engine.methods.datasets.recoding import Ladder, Members
from engine.risk.encoding import encode_column
from engine.table.hierarchies import from_csv
from engine.table.schema import Column, Kind, Role

DATA = Path(__file__).parents[3] / "data"
NINE = {
    "sex": "sex",
    "age": "age",
    "race": "race",
    "marital_status": "marital-status",
    "education": "education",
    "native_country": "native-country",
    "workclass": "workclass",
    "occupation": "occupation",
    "income": "salary-class",
}
TRAINING = 32_561  # rows of the first of the two files that the table was made of


@cache
def complete_rows() -> pd.DataFrame:
    """Return the 30,162 complete rows of the first part, as text."""
    rows = pd.read_csv(DATA / "adult.csv.gz", dtype=str, nrows=TRAINING)
    return rows[(rows != "?").all(axis=1)].reset_index(drop=True)


def hierarchy(column: str):
    """Return the hierarchy of a column."""
    file = f"adult_hierarchy_{NINE[column]}.csv"
    return from_csv((DATA / "hierarchies" / file).read_text(), column=column, file=file)


def placed(columns=tuple(NINE)):
    """Return distinct combinations, the people who have them, ladders, and the combination of each row."""
    rows, ladders, codes = complete_rows(), [], []
    for column in columns:
        found, values = pd.factorize(rows[column].to_numpy(dtype=object))
        ladders.append(Ladder.of(list(values), hierarchy(column)))
        codes.append(ladders[-1].place(list(values))[found])
    distinct, number = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
    number = number.reshape(-1)
    return distinct, Members(number, np.arange(len(number))), ladders, number


def condition(column, demand, *, columns=tuple(NINE)):
    """Return what groups have to fulfil in a sensitive attribute; ``demand`` gets it encoded."""
    encoded = encode_column(complete_rows()[column], Column(column, Role.SENSITIVE, Kind.CATEGORY))
    return Condition.of(placed(columns)[3], encoded, [demand(encoded)])

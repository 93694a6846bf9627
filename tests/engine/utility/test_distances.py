"""Distances of tables: by hand, and what is missing or unknown."""

import numpy as np
import pandas as pd
import pytest

from engine.table.schema import Column, Kind
from engine.utility.distances import Scale, classes_of, distances


def test_distances_by_hand():
    one = {"a": np.array([0, 0, 0, 1]), "b": np.array([0, 0, 1, 1])}
    other = {"a": np.array([0, 1]), "b": np.array([0, 1])}
    found = distances(one, other)
    assert found.one_way == {"a": pytest.approx(0.25), "b": pytest.approx(0.0)}
    # pairs: (0,0) .5/.5, (0,1) .25/0, (1,1) .25/.5
    assert found.two_way["a", "b"] == pytest.approx(0.25)
    assert found.mean_two_way == pytest.approx(0.25)


def test_a_table_is_at_no_distance_from_itself_and_at_one_from_nothing_in_common():
    one = {"a": np.array([0, 1, 2])}
    assert distances(one, one).mean_one_way == 0
    assert distances(one, {"a": np.array([3, 3])}).mean_one_way == 1
    assert distances(one, {"a": np.array([], dtype=np.int64)}).mean_one_way == 1


def test_classes_of_names_of_amounts_and_of_what_was_never_seen():
    frame = pd.DataFrame({"age": [1.0, 2.0, 3.0, None], "sex": ["f", "m", "f", "?"]})
    scales = [
        Scale.of(frame["age"], Column("age", kind=Kind.INTEGER)),
        Scale.of(frame["sex"], Column("sex", missing=("?",))),
    ]
    seen = classes_of(pd.DataFrame({"age": ["1", "9", "", "x"], "sex": ["f", "x", "?", None]}), scales)
    missing = len(scales[0].cuts) + 1
    assert seen["age"].tolist() == [0, missing - 1, missing, missing]
    assert seen["sex"][0] == 0 and seen["sex"][2] == seen["sex"][3] != seen["sex"][1]
    by_name = Scale.of_names(frame["age"], Column("age", kind=Kind.INTEGER))
    assert by_name.classes(pd.Series(["2", "1.0"])).tolist()[0] == 1

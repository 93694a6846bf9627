"""Nothing about few people can be worked out from the printed cells: no bound on what can be learnt."""

from __future__ import annotations

from engine.privacy.promise import PromiseKind, Status


class SmallCells(PromiseKind):
    """Every hidden cell below the threshold keeps an interval up to it. Fischetti and Salazar 2001."""

    id = "small_cells"
    bounded = False
    status = Status.STATISTICAL
    terms = ("threshold",)


class CellKeys(PromiseKind):
    """Every count is changed by a key of the people in it. Marley and Leaver 2011."""

    id = "cell_keys"
    bounded = False
    status = Status.STATISTICAL
    terms = ("largest",)


class Rounded(PromiseKind):
    """Every printed number is a multiple of the base near the true one. Cox 1987."""

    id = "rounded"
    bounded = False
    status = Status.STATISTICAL
    terms = ("base",)


class SmallSums(PromiseKind):
    """Every sum in which one contributor could be estimated keeps an interval. Hundepool et al. 2012, 4.2."""

    id = "small_sums"
    bounded = False
    status = Status.STATISTICAL
    terms = ("threshold", "rule")

"""``at-risk`` and ``price`` as a person runs them."""

import json

import pytest

from engine.__main__ import main

PRICE = ["price", "--people", "100", "--compensation", "5500"]


def asked(capsys, *arguments):
    status = main([*arguments, "--json"])
    written = capsys.readouterr()
    assert status == 0 and not written.err
    return json.loads(written.out)


def refused(capsys, *arguments):
    status = main(list(arguments))
    written = capsys.readouterr()
    assert status == 2 and not written.out
    assert written.err.count("\n") == 1 and "Traceback" not in written.err
    return written.err


def said(capsys, *arguments):
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def test_confidence_of_the_laplace_mechanism(capsys):
    answer = asked(capsys, "at-risk", "--epsilon0", "1", "--epsilon", ".6")
    assert answer["epsilon0"] == 1 and answer["epsilon"] == 0.6
    assert answer["dimensions"] == 1 and answer["mechanism"] == "laplace"
    assert answer["published"]["confidence"] == pytest.approx(0.713769, abs=5e-7)
    assert answer["exact"]["confidence"] == pytest.approx(0.409365, abs=5e-7)
    assert answer["exact"]["confidence_two_sided"] == pytest.approx(0.184701, abs=5e-7)
    assert answer["certified"]["delta"] == pytest.approx(0.181269, abs=5e-7)


def test_confidence_of_the_discrete_mechanism(capsys):
    answer = asked(capsys, "at-risk", "--epsilon0", "1", "--epsilon", ".6", "--mechanism", "discrete-laplace")
    assert answer["exact"] == {"confidence": pytest.approx(0.268941, abs=5e-7), "confidence_two_sided": 0}
    assert answer["mechanism"] == "discrete-laplace"


def test_missing_level_stands_under_published_and_exact(capsys):
    answer = asked(capsys, "at-risk", "--epsilon", ".4", "--confidence", ".6")
    assert "epsilon0" not in answer
    assert answer["published"]["epsilon0"] == pytest.approx(0.797323, abs=5e-7)
    assert answer["exact"]["epsilon0"] == 0.4 and answer["exact"]["at_the_atom"]
    answer = asked(capsys, "at-risk", "--epsilon0", "1", "--confidence", ".713769", "--dimensions", "1")
    assert "epsilon" not in answer
    assert answer["published"]["epsilon"] == pytest.approx(0.6, abs=1e-5)
    assert answer["exact"]["epsilon"] == 1


def test_warning_above_ln_3(capsys):
    assert asked(capsys, "at-risk", "--epsilon0", "1.0986", "--epsilon", "1")["warnings"] == []
    assert asked(capsys, "at-risk", "--epsilon0", "1.0987", "--epsilon", "1")["warnings"] == [
        "published_overstates"
    ]
    assert "Warning" in said(capsys, "at-risk", "--epsilon0", "2", "--epsilon", "1")


@pytest.mark.parametrize(
    "mechanism",
    [
        "laplace",
        "discrete-laplace",
        "gaussian",
        "discrete-gaussian",
        "randomised-response",
        "exponential",
        "permute-and-flip",
    ],
)
def test_every_mechanism_answers_every_question(capsys, mechanism):
    own = "--scale" if "gaussian" in mechanism else "--epsilon0"
    base = ["at-risk", "--mechanism", mechanism, "--answers", "4"]
    answer = asked(capsys, *base, own, "2", "--epsilon", ".9")
    share = answer["exact"]["confidence"]
    assert 0 < share < 1 and 0 <= answer["exact"]["confidence_two_sided"] <= share
    # The certified δ bounds what exceeds ε: δ ≤ 1 − confidence.
    assert 0 <= answer["certified"]["delta"] <= 1 - share + 1e-12
    back = asked(capsys, *base, own, "2", "--confidence", repr(share * 0.999))
    assert back["exact"]["epsilon"] <= 0.9 + 1e-9
    design = asked(capsys, *base, "--epsilon", ".9", "--confidence", repr(share * 0.999))
    found = design["exact"]["scale" if own == "--scale" else "epsilon0"]
    assert found <= 2 if own == "--scale" else found >= 2
    for question in (["--epsilon", ".9"], ["--confidence", ".5"]):
        assert len(said(capsys, *base, own, "2", *question).splitlines()) >= 5


def test_several_releases(capsys):
    answer = asked(
        capsys, "at-risk", "--release", "laplace:0.1:60", "--release", "laplace:0.1:40", "--delta", "1e-4",
        "--epsilon", "3",
    )  # fmt: skip
    assert answer["certified"]["epsilon"] == pytest.approx(3.68, abs=0.005)
    assert answer["basic"]["epsilon"] == pytest.approx(10) and answer["published"]["valid"] is False
    assert answer["published"]["epsilon"] < answer["certified"]["epsilon"] < answer["advanced"]["epsilon"]
    assert answer["exact"]["confidence"] <= answer["exact"]["confidence_at_most"]
    mixed = asked(capsys, "at-risk", "--release", "laplace:0.1", "--release", "gaussian:10:5")
    assert mixed["basic"]["epsilon"] is None and mixed["published"]["epsilon"] is None
    assert "not a valid guarantee" in said(capsys, "at-risk", "--release", "laplace:0.1:5", "--epsilon", ".3")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--epsilon0", "1"],
        ["--epsilon0", "1", "--epsilon", ".5", "--confidence", ".5"],
        ["--epsilon0", "nan", "--epsilon", ".5"],
        ["--epsilon0", "1", "--epsilon", "0"],
        ["--epsilon0", "-1", "--epsilon", ".5"],
        ["--epsilon0", "inf", "--epsilon", ".5"],
        ["--epsilon0", "1", "--confidence", "1"],
        ["--epsilon0", "1", "--confidence", "0"],
        ["--epsilon0", "1", "--epsilon", ".5", "--dimensions", "0"],
        ["--epsilon0", "1", "--epsilon", ".5", "--dimensions", "1.5"],
        ["--epsilon0", "1", "--epsilon", ".5", "--mechanism", "telepathy"],
        ["--epsilon0", "1", "--epsilon", ".5", "--mechanism", "discrete-laplace", "--sensitivity", "1.5"],
        ["--epsilon0", "1", "--epsilon", ".5", "--mechanism", "gaussian"],
        ["--epsilon0", "1", "--scale", "1", "--epsilon", ".5"],
        ["--epsilon0", "1", "--epsilon", ".5", "--delta", ".1"],
        ["--release", "laplace"],
        ["--release", "laplace:0.1:0"],
        ["--release", "laplace:0.1", "--epsilon0", "1"],
        ["--release", "laplace:0.1", "--delta", "1"],
    ],
)
def test_at_risk_refuses_with_a_sentence(capsys, arguments):
    refused(capsys, "at-risk", *arguments)


def test_price_of_the_worked_example(capsys):
    answer = asked(capsys, *PRICE, "--epsilon0", ".5")
    assert answer["published"]["budget"] == pytest.approx(74_434.41, abs=0.005)
    assert answer["published"]["at_risk"]["epsilon"] == pytest.approx(0.274115, abs=5e-7)
    assert answer["published"]["at_risk"]["budget"] == pytest.approx(37_805.86, abs=0.005)
    assert answer["published"]["at_risk"]["saving"] == pytest.approx(36_628.55, abs=0.005)
    assert answer["exact"]["at_risk"]["saving"] == pytest.approx(30_955.34, abs=0.005)
    assert answer["exact_two_sided"]["at_risk"]["saving"] == pytest.approx(6_455.45, abs=0.005)
    assert answer["expected"] == pytest.approx(63_894.00, abs=0.005)
    assert answer["window"] is None


def test_price_window_and_its_reasons(capsys):
    open_window = asked(capsys, *PRICE, "--epsilon0", "1", "--budget", "150000")["window"]
    assert (open_window["lower"], open_window["upper"]) == pytest.approx((0.180647, 0.723616), abs=5e-7)
    assert open_window["empty"] is False and open_window["reason"] is None
    assert open_window["exact"]["lower"] == 0
    for budget, error, reason in (
        ("1000", "2", "budget"),
        ("150000", ".5", "max_error"),
        ("1000", ".5", "both"),
    ):
        arguments = [*PRICE, "--epsilon0", "1", "--budget", budget, "--max-error", error]
        found = asked(capsys, *arguments)["window"]
        assert found["empty"] and found["reason"] == reason and found["lower"] is None
        assert ("budget" in said(capsys, *arguments)) or reason == "max_error"
    discrete = asked(
        capsys, *PRICE, "--epsilon0", "1", "--mechanism", "discrete-laplace", "--max-error", ".5"
    )
    assert discrete["window"]["epsilon0_needed"] == pytest.approx(1.443635, abs=5e-7)


def test_price_with_everything(capsys):
    arguments = [
        *PRICE, "--epsilon0", ".5", "--budget", "80000", "--max-error", "2", "--prior", ".5",
        "--releases", "4", "--c-range", ".5", "2", "--people-range", "50", "200",
        "--fine", "1000000", "--incident", "20000",
        "--calibrate-epsilon", "1", "--calibrate-share", ".3",
    ]  # fmt: skip
    answer = asked(capsys, *arguments)
    assert answer["c"] == pytest.approx(1.203973, abs=5e-7)
    assert answer["band"]["lower"] < answer["band"]["central"] < answer["band"]["upper"]
    assert answer["posterior"]["presence"] == pytest.approx(0.622459, abs=5e-7)
    assert answer["posterior"]["value"] == pytest.approx(0.731059, abs=5e-7)
    assert isinstance(answer["posterior"]["conclusion"]["changes"], bool)
    assert answer["liabilities"] == {
        "compensation_per_person": 5500, "fine": 1_000_000, "incident": 20_000
    }  # fmt: skip
    assert answer["division"]["each_by_sum"] == pytest.approx(answer["division"]["total"] / 4)
    lines = said(capsys, *arguments)
    assert "gains no privacy" in lines and "Article 83" in lines and "not added" in lines


def test_price_of_several_releases_and_precedents(capsys):
    arguments = ["price", "--people", "100", "--anchor", "bravis_2022", "--release", "discrete-laplace:0.1:5"]
    answer = asked(capsys, *arguments, "--budget", "9000")
    assert answer["together"]["epsilon"] == pytest.approx(0.5) and answer["together"]["left"] < 0
    assert answer["liabilities"]["compensation_per_person"] == 2000
    assert "exceeded" in said(capsys, *arguments, "--budget", "9000")
    listed = asked(capsys, "price", "--anchors")["anchors"]
    assert len(listed) >= 10 and all(anchor["check"] == "have a lawyer check this" for anchor in listed)
    assert said(capsys, "price", "--anchors").count("have a lawyer check this") == len(listed)


@pytest.mark.parametrize(
    "arguments",
    [
        ["price"],
        ["price", "--people", "100"],
        ["price", "--people", "100", "--compensation", "5", "--anchor", "bgh_2024", "--epsilon0", "1"],
        ["price", "--people", "100", "--anchor", "nobody", "--epsilon0", "1"],
        ["price", "--people", "100", "--anchor", "ibm_breach_2025", "--epsilon0", "1"],
        [
            "price",
            "--people",
            "100",
            "--anchor",
            "bgh_2024",
            "--epsilon0",
            "1",
            "--anchors-file",
            "absent.toml",
        ],
        ["price", "--people", "0", "--compensation", "5", "--epsilon0", "1"],
        ["price", "--people", "nan", "--compensation", "5", "--epsilon0", "1"],
        [*PRICE],
        [*PRICE, "--epsilon0", "0"],
        [*PRICE, "--epsilon0", "nan"],
        [*PRICE, "--epsilon0", "1", "--c", "-1"],
        [*PRICE, "--epsilon0", "1", "--minimum", "5500"],
        [*PRICE, "--epsilon0", "1", "--budget", "0"],
        [*PRICE, "--epsilon0", "1", "--max-error", "nan"],
        [*PRICE, "--epsilon0", "1", "--calibrate-epsilon", "1"],
        [*PRICE, "--epsilon0", "1", "--calibrate-epsilon", "1", "--calibrate-share", "2"],
        [*PRICE, "--epsilon0", "1", "--c-range", "2", "3"],
        [*PRICE, "--epsilon0", "1", "--prior", "1"],
        [*PRICE, "--epsilon0", "1", "--releases", "3"],
        [*PRICE, "--epsilon0", "1", "--fine", "-3"],
        [*PRICE, "--epsilon0", "1", "--release", "laplace:1"],
        [*PRICE, "--epsilon0", "1", "--mechanism", "exponential", "--max-error", "1"],
    ],
)
def test_price_refuses_with_a_sentence(capsys, arguments):
    refused(capsys, *arguments)

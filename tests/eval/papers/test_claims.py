import pandas as pd
import pytest

from boostnoise.eval.papers.claims import CLAIMS, check_claims
from boostnoise.eval.papers.published_numbers import published_names, read_published


def cells(name):
    table = read_published(name)
    of_both = {}
    for side in ("published", "ours"):
        of_both |= {side: table["accuracy"], f"{side}_sd": table.get("sd"), f"{side}_repeats": 50.0}
    return table.assign(**of_both).astype({"published_sd": float, "ours_sd": float})


WITH_NUMBERS = sorted(set(CLAIMS).intersection(published_names()))


@pytest.mark.parametrize("name", WITH_NUMBERS)
def test_the_numbers_of_the_papers_agree_with_their_claims(name):
    found = check_claims(CLAIMS[name], cells(name))
    assert len(found) == len(CLAIMS[name])
    assert found["published"].all()
    assert found["ours"].all()
    assert (found["our_numbers"] == found["published_numbers"]).all()


@pytest.mark.parametrize("name", WITH_NUMBERS)
def test_numbers_that_disagree(name):
    table = cells(name)
    of_cell = table.groupby(["dataset", "noise_kind", "noise_rate"])["accuracy"]
    reversed_order = of_cell.transform("max") + of_cell.transform("min") - table["accuracy"]
    found = check_claims(CLAIMS[name], table.assign(ours=reversed_order))
    assert found["published"].all()
    assert not found["ours"].all()


def test_one_table_is_not_in_this_package():
    assert set(CLAIMS).difference(published_names()) == {"wilton_2024_table_3"}


def test_a_linear_svm_that_does_not_fall_to_the_larger_class():
    table = cells("ghosh_2017_table_1")
    table = table[table["model"] == "svm"]
    higher = table["accuracy"] + 0.02 * (table["noise_rate"] == 0.4)
    found = check_claims(CLAIMS["ghosh_2017_table_1"], table.assign(ours=higher))
    assert found["ours"].isna().tolist() == [True, True, True, False]
    assert not found["ours"][3]
    assert "0.02" in found["our_numbers"][3]


def test_runs_that_lack_models_or_cells():
    claims = CLAIMS["wilton_2024_table_2"]
    table = cells("wilton_2024_table_2")
    few = check_claims(claims, table[table["model"] != "ane"])
    assert few["ours"].isna().all()  # each of these claims needs all eight criteria
    ours = table["ours"].where(table["noise_rate"] > 0)
    noisy = check_claims(claims, table.assign(ours=ours))
    assert noisy["ours"].isna().tolist() == [False, True, False, False, False, False]
    assert pd.isna(noisy["published"][1])


def test_wins_ties_and_losses():
    claims = CLAIMS["yang_2019_table_3"]
    table = cells("yang_2019_table_3")
    assert check_claims(claims, table)["published_numbers"].tolist() == [
        "23 wins, 9 ties, 0 losses",
        "22 wins, 10 ties, 0 losses",
    ]
    # On this set pairwise is 0.0211 and 0.0629 ahead, and the standard errors are 0.0039 and 0.0073.
    few = table[(table["dataset"] == "breast") & (table["model"] != "entropy")]
    shifted = few.assign(ours=few["ours"].where(few["model"] == "gini", few["ours"] - 0.04))
    found = check_claims(claims[:1], shifted)
    assert found["our_numbers"].tolist() == ["1 win, 0 ties, 1 loss"]
    assert found["ours"].tolist() == [False]
    equal = check_claims(claims[:1], few.assign(ours=0.9))
    assert (equal["our_numbers"][0], equal["ours"][0]) == ("0 wins, 2 ties, 0 losses", False)
    single = few.assign(ours_sd=float("nan"), ours_repeats=1)
    assert check_claims(claims[:1], single)["our_numbers"].tolist() == ["2 wins, 0 ties, 0 losses"]


def test_criteria_that_are_alike():
    table = cells("wilton_2024_table_4")
    apart = table.assign(ours=table["ours"] - 0.1 * (table["model"] == "gce"))
    found = check_claims(CLAIMS["wilton_2024_table_4"], apart).iloc[-1]
    assert found["claim"] == "mse, ce, gce and ranking are close to one another."
    assert found["published"]
    assert not found["ours"]
    assert found["published_numbers"] == "they differ by 0.0190 on average, all 8 by 0.1018"

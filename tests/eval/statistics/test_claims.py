import pandas as pd
import pytest

from boostnoise.eval.report.published_tables import published_names, read_published
from boostnoise.eval.statistics.claims import CLAIMS, check_claims


def cells(name):
    table = read_published(name)
    return table.assign(published=table["accuracy"], ours=table["accuracy"])


@pytest.mark.parametrize("name", CLAIMS)
def test_the_numbers_of_the_papers_agree_with_their_claims(name):
    found = check_claims(CLAIMS[name], cells(name))
    assert len(found) == len(CLAIMS[name])
    assert found["published"].all()
    assert found["ours"].all()
    assert (found["our_numbers"] == found["published_numbers"]).all()


@pytest.mark.parametrize("name", CLAIMS)
def test_numbers_that_disagree(name):
    table = cells(name)
    of_cell = table.groupby(["dataset", "noise_kind", "noise_rate"])["accuracy"]
    reversed_order = of_cell.transform("max") + of_cell.transform("min") - table["accuracy"]
    found = check_claims(CLAIMS[name], table.assign(ours=reversed_order))
    assert found["published"].all()
    assert not found["ours"].all()


def test_all_are_of_tables_of_this_package():
    assert set(CLAIMS) <= set(published_names())


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
    assert few["ours"].isna().all()
    ours = table["ours"].where(table["noise_rate"] > 0)
    noisy = check_claims(claims, table.assign(ours=ours))
    assert noisy["ours"].isna().tolist() == [False, True, False, False]
    assert pd.isna(noisy["published"][1])

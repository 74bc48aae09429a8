import itertools

import numpy as np
import pandas as pd

from boostnoise.eval.papers.claims import CRITERIA
from boostnoise.eval.papers.published_numbers import published_names, read_published
from boostnoise.eval.papers.run_claims import RUN_CLAIMS, TRAIN_ROWS, check_run_claims


def scores(*rows, measure="accuracy"):
    table = pd.DataFrame(rows, columns=["dataset", "model", "noise_rate", measure])
    return table.assign(noise_kind="uniform", repeat=0, error=None)


def check(study, table):
    found = check_run_claims(RUN_CLAIMS[study], table)
    assert found["claim"].tolist() == [claim.text for claim in RUN_CLAIMS[study]]
    assert found["published"].isna().all()
    return found


def test_names_are_not_those_of_tables():
    assert not set(RUN_CLAIMS) & set(published_names())


def test_small_leaves():
    rows = [("checkerboard2x2", "tree, min_samples_leaf 50", 0.3, 0.96)] * 2
    forest = ("checkerboard2x2", "forest, min_samples_leaf 50", 0.3, 0.99)
    found = check("ghosh_2017_figure_1a", scores(*rows, forest))
    assert found["ours"].tolist() == [True]
    assert found["our_numbers"].tolist() == ["tree 0.960 and forest 0.990"]
    rows.append((*rows[0][:3], 0.92))  # the mean is below 0.95
    assert check("ghosh_2017_figure_1a", scores(*rows, forest))["ours"].tolist() == [False]
    assert check("ghosh_2017_figure_1a", scores(*rows))["ours"].isna().all()
    other_rate = scores(*rows, forest).assign(noise_rate=0.2)
    assert check("ghosh_2017_figure_1a", other_rate)["ours"].isna().all()


def sizes(rows_needed):
    """Accuracy grows with the logarithm of the rows, by .1 for each factor of e, and has .95 at `rows_needed`."""
    best = [
        (f"checkerboard2x2, train_rows {n}", "tree, min_samples_leaf 50", rate, 0.95 + 0.1 * np.log(n / needed))
        for n, (rate, needed) in itertools.product(TRAIN_ROWS, rows_needed.items())
    ]
    worse = [
        (name, f"tree, min_samples_leaf {size}", rate, accuracy - 0.1)
        for name, _, rate, accuracy in best
        for size in (10, 25, 100, 250)
    ]
    return scores(*best, *worse)


def test_rows_for_an_accuracy():
    def found(rows_needed):
        row = check("ghosh_2017_figure_1b", sizes(rows_needed)).iloc[0]
        return row["ours"], row["our_numbers"]

    assert found({0.2: 550, 0.4: 6500}) == (True, "550 rows at 20 % and 6,500 rows at 40 % of noise")
    assert found({0.2: 900, 0.4: 4000}) == (False, "900 rows at 20 % and 4,000 rows at 40 % of noise")
    assert found({0.2: 400, 0.4: 1500}) == (False, "400 rows at 20 % and 1,500 rows at 40 % of noise")
    assert found({0.2: 50, 0.4: 4000}) == (False, "100 rows at 20 % and 4,000 rows at 40 % of noise")
    assert found({0.2: 400, 0.4: 11_000}) == (False, "not reached at 40 % of noise with 10,000 rows")
    assert pd.isna(found({0.2: 400})[0])


def test_sizes_of_trees():
    rows = [("a", "pairwise", 0.2, 9.0), ("a", "gini", 0.2, 10.0), ("a", "entropy", 0.2, 11.0)]
    rows += [("a", name, 0.0, 30.0 * (name == "pairwise")) for name in ("pairwise", "gini", "entropy")]
    table = scores(*rows, measure="depth").assign(leaves=[5.0, 4.0, 6.0, 0.0, 9.0, 9.0])
    found = check("yang_2019_trees", table)
    assert found["ours"].tolist() == [True, False]
    assert found["our_numbers"].tolist() == [
        "mean depth: pairwise 9.0, gini 10.0, entropy 11.0", "mean leaves: pairwise 5.0, gini 4.0, entropy 6.0"
    ]  # fmt: skip
    assert check("yang_2019_trees", table[table["noise_rate"] == 0])["ours"].isna().all()


def test_lam():
    names = [f"tree, criterion ne({lam})" for lam in ("0", "0.25", "0.5", "0.75", "1")]
    rows = [("mnist", name, rate, 0.9) for rate in (0.0, 0.4) for name in names]
    table = scores(*rows).assign(leaves=[5.0, 4.0, 3.0, 2.0, 1.0, 5.0, 6.0, 7.0, 8.0, 1.0])
    table.loc[[1, 9], "accuracy"] = 0.95
    found = check("wilton_2024_figure_6", table)
    assert found["ours"].tolist() == [True, True]
    assert found["our_numbers"].tolist() == [
        "in 5 of 8 steps from one lam to the next", "the most accurate: 0.25 at 0 % and 1 at 40 %"
    ]  # fmt: skip
    table.loc[1, "accuracy"] = 0.9
    table.loc[[4, 9], "accuracy"] = 0.96
    table.loc[9, "leaves"] = 9.0
    assert check("wilton_2024_figure_6", table)["ours"].tolist() == [False, False]


def of_criteria(tree_step, forest_step):
    steps = {"tree": tree_step, "forest": forest_step}
    return scores(
        *(
            (dataset, f"{kind}, {name}", 0.2, 0.9 - step * CRITERIA.index(name))
            for dataset in ("a", "b")
            for kind, step in steps.items()
            for name in CRITERIA
        )
    )


def test_forests_and_trees():
    found = check("wilton_2024_tables_2_4", of_criteria(0.02, 0.01))
    assert found["ours"].tolist() == [True]
    assert found["our_numbers"].tolist() == ["trees 0.1400, forests 0.0700"]
    assert check("wilton_2024_tables_2_4", of_criteria(0.01, 0.02))["ours"].tolist() == [False]
    failed = of_criteria(0.02, 0.01)
    failed.loc[failed["model"] == "tree, ane", "error"] = "ValueError"
    assert check("wilton_2024_tables_2_4", failed)["ours"].isna().all()


def test_the_papers_numbers_on_forests_and_trees():
    spread = {}
    for kind, table in (("trees", 2), ("forests", 4)):
        cells = read_published(f"wilton_2024_table_{table}")
        of_cell = cells.groupby(["dataset", "noise_kind", "noise_rate"])["accuracy"]
        spread[kind] = (of_cell.max() - of_cell.min()).mean()
    texts = ", ".join(f"{kind} {value:.4f}" for kind, value in spread.items())
    assert RUN_CLAIMS["wilton_2024_tables_2_4"][0].published == texts


def test_models_and_data_sets_are_those_of_the_configs(root):
    from boostnoise.eval import load_config

    for study, claims in RUN_CLAIMS.items():
        config = load_config(root / "configs" / "studies" / f"{study}.json")
        models, datasets = ([spec.name for spec in specs] for specs in (config.models, config.datasets))
        assert [claim.lacks(models, datasets) for claim in claims] == [[]] * len(claims)

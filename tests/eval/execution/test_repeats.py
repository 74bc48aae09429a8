import itertools
import math

import numpy as np
import pytest

from boostnoise.eval import plan, run
from boostnoise.eval.execution.repeats import DISAGREEMENT, repeats_by_dataset
from boostnoise.eval.statistics.power import repeats_needed

TREE = {"name": "tree", "module": "sklearn.tree", "model": "DecisionTreeClassifier"}
BAYES = {"name": "bayes", "module": "sklearn.naive_bayes", "model": "GaussianNB"}
STUMP = {**TREE, "name": "stump", "params": {"max_depth": 1}}


def test_without_cells_models_disagree_on_a_tenth(small_config):
    config = small_config(datasets=["iris", {"set": "wine", "train_rows": 50}], test_fraction=0.3)
    iris, wine = repeats_by_dataset(plan(config))
    assert (iris.dataset, iris.test_rows, iris.known_from) == ("iris", 45, "assumption")
    assert iris.sd == math.sqrt(DISAGREEMENT / 45)
    assert iris.repeats == {d: repeats_needed(iris.sd, d, 0.3) for d in (0.01, 0.02, 0.05)}
    n_test = 0.3 * 178
    assert wine.repeats[0.05] == repeats_needed(wine.sd, 0.05, n_test / (n_test + 50))


@pytest.mark.usefixtures("fits_in_this_process")
def test_the_spread_of_earlier_cells(small_config):
    config = small_config(models=[TREE, BAYES, STUMP], repeats=4)
    scores = run(config, n_jobs=1).scores
    variances = []
    for _, part in scores.groupby("noise_rate"):
        wide = part.pivot(index="repeat", columns="model", values="accuracy")
        variances += [(wide[a] - wide[b]).var() for a, b in itertools.combinations(wide, 2)]
    (found,) = repeats_by_dataset(plan(config))
    assert found.known_from == "store"
    assert found.sd == pytest.approx(math.sqrt(np.mean(variances)))


def test_sets_with_test_rows_of_their_own_are_left_out(small_config):
    assert repeats_by_dataset(plan(small_config(fixed_split=True))) == []

import pandas as pd

from boostnoise.eval import compare_with_published
from boostnoise.eval.report.published_tables import as_markdown

MODELS = ["<b>a|b", "c", "d"]


def published(accuracies):
    cells = pd.DataFrame({"dataset": "iris", "model": MODELS, "noise_kind": "class_conditional"})
    return cells.assign(noise_rate=0.2, accuracy=accuracies)


def test_agreement_of_ranks_in_markdown():
    cells, scores = published([0.7, 0.6, 0.8]), published([0.7, 0.8, 0.9]).assign(repeat=0)
    text = as_markdown(compare_with_published(scores, cells))
    assert (
        "| noise | rate | tau | data sets |\n|---|---:|---:|---:|\n| class\\_conditional | 0.2 | 0.33 | 1 |\n\n"
    ) in text
    assert "Kendall's tau" in text
    assert "Kendall's tau" not in as_markdown(compare_with_published(scores, cells.head(2)))


def test_cells_in_markdown():
    text = as_markdown(
        compare_with_published(published([0.5] * 3).assign(repeat=0), published([0.5, 0.6, 0.7]))
    )
    assert "1 of 3 cells" in text
    assert (
        r"| iris | \<b\>a\|b | class\_conditional | 0.2 | 0.5000 | – | 0.5000 | – | +0.0000 | 0.0000 | yes |"
        in text
    )
    assert text.endswith("| no |\n")

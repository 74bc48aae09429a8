import numpy as np
import pandas as pd
import pytest

from boostnoise import LabelAudit, find_label_errors
from boostnoise.eval import ConfigError
from robust_splits.label_noise.noise_scenarios import noise_scenarios


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    right = rng.integers(3, size=400)
    y = np.where(rng.random(400) < 0.2, (right + 1) % 3, right)
    p = (0.05 + 0.85 * np.eye(3)[right]) * np.exp(0.3 * rng.normal(size=(400, 3)))
    labels = np.array(["<b>a</b>", "b\u202e", "c"])
    errors = find_label_errors(labels[y], p / p.sum(axis=1, keepdims=True))
    features = pd.DataFrame({"x": rng.normal(size=400), "<script>": ["</script><i>"] * 400})
    return LabelAudit(errors, labels[y], np.arange(400) + 7, features, name="study <1>")


def test_suspects_are_in_order(found):
    table = found.suspects
    assert table.columns.tolist() == ["row", "given", "suggested", "p_wrong", "rank"]
    assert sorted(table["row"]) == list(range(7, 407))
    assert table["rank"].tolist() == list(range(1, 401))
    assert table["p_wrong"].is_monotonic_decreasing
    assert (table["given"].to_numpy() == found.labels[table["row"] - 7]).all()
    assert (table["given"] != table["suggested"]).all()


def test_expected_precision_and_weights(found):
    p = np.sort(found.errors.p_wrong)[::-1]
    assert found.expected_precision.index.tolist() == [10, 20, 50, 100, 200]
    for n, share in found.expected_precision.items():
        assert share == pytest.approx(p[:n].mean())
    np.testing.assert_allclose(found.weights, 1 - found.errors.p_wrong)


@pytest.mark.parametrize("precision", [0.5, 0.8, 0.9])
def test_the_clean_mask_is_the_longest_list_of_that_precision(found, precision):
    left_out = ~found.clean_mask(precision)
    p = np.sort(found.errors.p_wrong)[::-1]
    n = int(left_out.sum())
    assert p[:n].mean() >= precision > p[: n + 1].mean()
    assert found.errors.p_wrong[left_out].min() >= found.errors.p_wrong[~left_out].max()


def test_mistakes(found, tmp_path):
    for precision in (0, 1.2, -1):
        with pytest.raises(ValueError, match="precision must be above 0 and at most 1"):
            found.clean_mask(precision)
    with pytest.raises(ValueError, match=r"all rows with the label .* would be left out"):
        found.clean_mask(1e-9)
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        found.report(tmp_path / "file" / "audit.html")


def test_summaries(found):
    text = str(found)
    assert "% of 400 labels are wrong; 90 % interval from" in text
    assert "Expected to be wrong: 10 of the first 10, 20 of the first 20" in text
    assert "more likely wrong than right" in text
    assert "100 checked rows tell how many labels are wrong." in " ".join(text.split())
    assert "\u202e" not in text
    html = found._repr_html_()
    assert "<b>a</b>" not in html
    assert "&lt;b&gt;a&lt;/b&gt;" in html
    assert "\u202e" not in html


def test_little_noise():
    y = np.repeat([0, 1], 500)
    p = np.where(np.eye(2)[y] == 1, 0.99, 0.01)
    clean = LabelAudit(find_label_errors(y, p), y, np.arange(1000))
    assert str(clean).startswith(
        "Little or no label noise is proven, about 0 % of 1000 labels; 90 % interval from 0 % to"
    )


def test_drawn_labels_have_their_probabilities(found):
    draws = np.array([found.draw_labels(seed) for seed in range(400)])
    np.testing.assert_array_equal(draws[3], found.draw_labels(3))
    shares = (draws[:, :, np.newaxis] == found.classes).mean(axis=0)
    p = noise_scenarios(found.errors, found.labels).without_overlap
    np.testing.assert_allclose(shares, p, atol=0.12)
    np.testing.assert_allclose(shares.mean(axis=0), p.mean(axis=0), atol=2e-3)

import numpy as np
import pytest

from boostnoise import estimate_transition_matrix

METHODS = pytest.mark.parametrize(
    "method", ["anchor", "confident_joint"]
)  # more of the best bin in test_best_bin
T3 = np.array([[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.0, 0.1, 0.9]])


def draw_labels(T, shares=None, n=40_000, seed=0):
    """Clean labels, noisy labels, and the probabilities of the noisy labels."""
    rng = np.random.default_rng(seed)
    clean = rng.choice(len(T), p=shares, size=n)
    y = (rng.random(n)[:, None] > np.cumsum(T, axis=1)[clean][:, :-1]).sum(axis=1)
    return clean, y, np.asarray(T)[clean]


@METHODS
@pytest.mark.parametrize("shares", [None, [0.8, 0.1, 0.1]], ids=["equal", "unequal"])
def test_known_noise_is_recovered(method, shares):
    _, y, p = draw_labels(T3, shares)
    found = estimate_transition_matrix(y, p, method)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(found, T3, atol=1e-9 if method == "anchor" else 0.25)


def reference_confident_joint(y, p):
    """Row by row: thresholds, confident joint and estimate of the joint distribution, as the paper defines them."""
    K = p.shape[1]
    thresholds = [p[y == j, j].mean() for j in range(K)]
    counts = np.zeros((K, K))
    for label, row in zip(y, p, strict=True):
        above = [j for j in range(K) if row[j] >= thresholds[j]]
        if above:
            counts[label, max(above, key=lambda j: row[j])] += 1
    joint = np.array([counts[i] / counts[i].sum() * (y == i).sum() for i in range(K)])
    return (joint / joint.sum(axis=0)).T


def reference_anchors(y, p):
    rows = []
    for i in range(p.shape[1]):
        of_label = sorted((tuple(row) for row in p[y == i]), key=lambda row: -row[i])
        rows.append(np.mean(of_label[: -(-len(of_label) // 5)], axis=0))
    return np.array(rows)


@METHODS
@pytest.mark.parametrize("seed", range(5))
def test_estimates_agree_with_their_definitions(method, seed):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([0.6, 1.0, 0.8], size=200)
    y = (rng.random(200)[:, None] > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
    reference = {"anchor": reference_anchors, "confident_joint": reference_confident_joint}[method]
    np.testing.assert_allclose(estimate_transition_matrix(y, p, method), reference(y, p), rtol=1e-12)


@pytest.mark.parametrize("method", ["best_bin", "anchor", "confident_joint"])
def test_weights_are_equivalent_to_repeated_rows(method):
    rng = np.random.default_rng(0)
    # Anchors may include only some copies of a row.  Rows have few distinct values, so that this has no effect.
    p = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.1, 0.9]])[rng.integers(4, size=300)]
    y = (rng.random(300) < p[:, 1]).astype(int)
    copies = rng.integers(0, 4, size=300)
    found = estimate_transition_matrix(y, p, method, sample_weight=copies)
    expected = estimate_transition_matrix(np.repeat(y, copies), np.repeat(p, copies, axis=0), method)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@METHODS
def test_labels_of_any_type_and_certain_probabilities(method):
    y = np.array(["b", "a", "c"] * 20)
    p = np.eye(3)[np.unique(y, return_inverse=True)[1]]
    np.testing.assert_array_equal(estimate_transition_matrix(y, p, method), np.eye(3))


def test_a_class_without_assigned_rows_is_clean():
    y = np.array([0] * 10 + [1] * 10)
    # All rows with label 1 have a higher probability of class 0.
    p = np.array([[0.9, 0.1]] * 10 + [[0.95, 0.05]] * 10)
    expected = [[0.5, 0.5], [0, 1]]
    np.testing.assert_allclose(estimate_transition_matrix(y, p, "confident_joint"), expected)


@pytest.mark.parametrize("spread", [0.0, 2.0], ids=["separate", "overlapping"])
def test_the_confident_joint_takes_overlap_for_noise(spread):
    """With clean labels and true probabilities; with overlapping classes, anchors estimate less noise."""
    rng = np.random.default_rng(0)
    margin = np.where(rng.random(20_000) < 0.5, 1, -1) * (40.0 if spread == 0.0 else 1.0)
    margin = margin + spread * rng.normal(size=20_000)
    p1 = 1 / (1 + np.exp(-margin))
    y, p = (rng.random(20_000) < p1).astype(int), np.column_stack([1 - p1, p1])
    anchor, confident = (
        1 - np.trace(estimate_transition_matrix(y, p, each)) / 2 for each in ("anchor", "confident_joint")
    )
    if spread == 0.0:
        assert anchor == pytest.approx(0, abs=1e-9)
        assert confident == pytest.approx(0, abs=1e-9)
    else:
        assert 0.02 < anchor < 0.05 < 0.1 < confident


def test_uninformative_probabilities_are_rejected():
    y, p = np.arange(20) % 2, np.full((20, 2), 0.5)
    with pytest.raises(ValueError, match="do not distinguish the classes: the estimated T must be invertible"):
        estimate_transition_matrix(y, p, "anchor")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"method": "dawid_skene"}, "method must be one of best_bin, anchor, confident_joint, got 'dawid_skene'"),
        ({"probabilities": [0.1, 0.9, 0.2]}, r"probabilities must have shape \(3, 2\), .* got \(3,\)"),
        ({"probabilities": np.full((3, 3), 1 / 3)}, r"must have shape \(3, 2\)"),
        ({"probabilities": [[1.5, -0.5]] * 3}, r"probabilities must be in \[0, 1\]"),
        ({"probabilities": [[np.nan, 0.5]] * 3}, r"probabilities must be in \[0, 1\]; 3 rows have missing ones"),
        ({"probabilities": [[0.5, 0.4]] * 3}, r"must sum to 1 in each row, got sums \[0.9, 0.9, 0.9\]"),
        ({"sample_weight": [1.0, -1.0, 1.0]}, "sample_weight must be finite and not negative"),
        ({"sample_weight": [0.0, 1.0, 0.0]}, r"sample_weight is zero for all rows of classes \[0\]"),
        ({"y": [1, 1, 1]}, "y must contain at least two classes, got one class, 1"),
    ],
)  # fmt: skip
def test_bad_input(changed, message):
    given = {"y": [0, 1, 0], "probabilities": [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], **changed}
    with pytest.raises(ValueError, match=message):
        estimate_transition_matrix(**given)

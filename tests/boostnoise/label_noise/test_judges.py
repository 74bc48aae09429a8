import numpy as np
import pytest

from boostnoise.label_noise import judges
from boostnoise.label_noise.judges import judge_labels


@pytest.fixture
def forests(monkeypatch):
    """Parameters of the forests that judge."""
    made = []

    def recording(judge):
        def make(*args, **params):
            made.append({"n_estimators": args[0], **params})
            return judge(*args, **params)

        return make

    monkeypatch.setattr(judges, "JUDGES", tuple(map(recording, judges.JUDGES)))
    return made


def noisy(n=1_000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] > 0).astype(int)
    return X, y ^ (rng.random(n) < np.array([0.1, 0.4])[y]), y


def test_the_posterior_is_closer_to_the_clean_labels():
    X, given, y = noisy()
    judged = judge_labels(X, given)
    assert np.mean(judged.probabilities.argmax(axis=1) == y) > np.mean(given == y) + 0.1
    np.testing.assert_allclose(judged.transition_matrix, [[0.9, 0.1], [0.4, 0.6]], atol=0.15)


def test_fewer_trees_of_fewer_rows(forests):
    X, given, y = noisy()
    judged = judge_labels(X, given, n_estimators=20, max_samples=400)
    assert [made["n_estimators"] for made in forests] == [20, 20]
    assert [made["max_samples"] for made in forests] == [400, 400]
    assert np.mean(judged.probabilities.argmax(axis=1) == y) > np.mean(given == y) + 0.05
    # Rows of no weight do not count.
    judge_labels(X, given, np.where(np.arange(1_000) < 300, 1.0, 0.0), n_estimators=5, max_samples=300)
    assert not any("max_samples" in made for made in forests[2:])

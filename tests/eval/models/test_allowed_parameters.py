from boostnoise.eval.models.allowed_parameters import FORBIDDEN, KEYWORDS, THREADS


def test_lists_are_disjoint():
    assert not KEYWORDS & FORBIDDEN
    assert not KEYWORDS & THREADS
    assert not FORBIDDEN & THREADS

from boostnoise.eval.models.allowed_parameters import FORBIDDEN, KEYWORDS, THREADS


def test_no_rule_contradicts_another():
    assert not KEYWORDS & FORBIDDEN
    assert not KEYWORDS & THREADS
    assert not FORBIDDEN & THREADS

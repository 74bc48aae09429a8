from boostnoise.eval.parameter_rules import FORBIDDEN, KEYWORDS, THREADS


def test_no_rule_contradicts_another():
    assert not KEYWORDS & FORBIDDEN
    assert not KEYWORDS & THREADS
    assert not FORBIDDEN & THREADS

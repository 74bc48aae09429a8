import pytest

from boostnoise.eval.report.formulas import readable, readable_names


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (r"$\gamma = 0.1$", "γ = 0.1"),
        (r"Average ELA with XGBoost, varying $\gamma$", "Average ELA with XGBoost, varying γ"),
        (r"$\lambda$ and $\mu$", "λ and μ"),
        (r"$\frac{1}{2}$", "1/2"),
        ("100 % & more_of_it", "100 % & more_of_it"),
        ("costs $5", "costs $5"),
        ("$5 or $6$", "$5 or $6$"),
        (r"$\unknown{$", r"$\unknown{$"),
        (r"\input{/etc/passwd} $\input{/etc/passwd}$", r"\input{/etc/passwd} $\input{/etc/passwd}$"),
        ("", ""),
    ],
)
def test_latex_becomes_text_if_figures_draw_it(name, text):
    assert readable(name) == text


def test_names_stay_apart():
    assert readable_names(["$x$", "x", r"$\mu$"]) == {"$x$": "$x$", "x": "x", r"$\mu$": "μ"}

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boostnoise import RobustClassifier
from boostnoise.eval.models.given_labels import predicting_given_labels
from robust_splits import Gini, RobustDecisionTreeClassifier, RobustExtraTreesClassifier, RobustForestClassifier


class OtherPasses(LogisticRegression):
    """Classifier of another package, whose passes mean something else."""

    def __init__(self, passes=3):
        super().__init__()
        self.passes = passes


def test_forests_grow_in_one_pass():
    forest = RobustForestClassifier(7, passes=2)
    assert predicting_given_labels(forest).get_params() == forest.get_params() | {"passes": 1}
    assert forest.passes == 2
    nested = predicting_given_labels(make_pipeline(StandardScaler(), RobustExtraTreesClassifier()))
    assert nested[-1].passes == 1
    assert predicting_given_labels(RobustClassifier(LogisticRegression())).passes == 1


def test_other_classifiers_stay_as_they_are():
    for model in (OtherPasses(), RobustDecisionTreeClassifier(Gini(), max_depth=2)):
        found = predicting_given_labels(model)
        assert found is not model
        assert found.get_params() == model.get_params()

"""Allow-list of the classes that a config may name.

Importing a module runs its code, so nothing else is imported for an untrusted config.  Allowing whole packages
would not be safe: they contain test and tool modules, some of which unpickle files of the working directory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import Any

from robust_splits.plugins import plugins

from ..errors import ConfigError

# The estimators of ``sklearn.utils.all_estimators`` and the classifiers and regressors of the boosters, each in
# its shortest public module.  Searches such as GridSearchCV are left out, because their grids would bypass the
# checks of parameters (configs have `search` instead).
CLASSES = {
    module: frozenset(names.split())
    for module, names in {
        "boostnoise": """
            CleanlabClassifier RobustClassifier RobustLGBMClassifier RobustXGBClassifier
        """,
        "boostnoise.eval": "CleanlabClassifier",
        "catboost": "CatBoostClassifier",
        "lightgbm": "LGBMClassifier LGBMRegressor",
        "robust_splits": "RobustDecisionTreeClassifier RobustExtraTreesClassifier RobustForestClassifier",
        "sklearn.calibration": "CalibratedClassifierCV",
        "sklearn.cluster": """
            AffinityPropagation AgglomerativeClustering Birch BisectingKMeans DBSCAN FeatureAgglomeration
            HDBSCAN KMeans MeanShift MiniBatchKMeans OPTICS SpectralBiclustering SpectralClustering
            SpectralCoclustering
        """,
        "sklearn.compose": "ColumnTransformer TransformedTargetRegressor",
        "sklearn.covariance": """
            EllipticEnvelope EmpiricalCovariance GraphicalLasso GraphicalLassoCV LedoitWolf MinCovDet OAS
            ShrunkCovariance
        """,
        "sklearn.cross_decomposition": "CCA PLSCanonical PLSRegression PLSSVD",
        "sklearn.decomposition": """
            DictionaryLearning FactorAnalysis FastICA IncrementalPCA KernelPCA LatentDirichletAllocation
            MiniBatchDictionaryLearning MiniBatchNMF MiniBatchSparsePCA NMF PCA SparseCoder SparsePCA
            TruncatedSVD
        """,
        "sklearn.discriminant_analysis": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
        "sklearn.dummy": "DummyClassifier DummyRegressor",
        "sklearn.ensemble": """
            AdaBoostClassifier AdaBoostRegressor BaggingClassifier BaggingRegressor ExtraTreesClassifier
            ExtraTreesRegressor GradientBoostingClassifier GradientBoostingRegressor
            HistGradientBoostingClassifier HistGradientBoostingRegressor IsolationForest
            RandomForestClassifier RandomForestRegressor RandomTreesEmbedding StackingClassifier
            StackingRegressor VotingClassifier VotingRegressor
        """,
        "sklearn.feature_extraction": "DictVectorizer FeatureHasher",
        "sklearn.feature_extraction.image": "PatchExtractor",
        "sklearn.feature_extraction.text": "CountVectorizer HashingVectorizer TfidfTransformer TfidfVectorizer",
        "sklearn.feature_selection": """
            GenericUnivariateSelect RFE RFECV SelectFdr SelectFpr SelectFromModel SelectFwe SelectKBest
            SelectPercentile SequentialFeatureSelector VarianceThreshold
        """,
        "sklearn.frozen": "FrozenEstimator",
        "sklearn.gaussian_process": "GaussianProcessClassifier GaussianProcessRegressor",
        "sklearn.impute": "KNNImputer MissingIndicator SimpleImputer",
        "sklearn.isotonic": "IsotonicRegression",
        "sklearn.kernel_approximation": """
            AdditiveChi2Sampler Nystroem PolynomialCountSketch RBFSampler SkewedChi2Sampler
        """,
        "sklearn.kernel_ridge": "KernelRidge",
        "sklearn.linear_model": """
            ARDRegression BayesianRidge ElasticNet ElasticNetCV GammaRegressor HuberRegressor Lars LarsCV
            Lasso LassoCV LassoLars LassoLarsCV LassoLarsIC LinearRegression LogisticRegression
            LogisticRegressionCV MultiTaskElasticNet MultiTaskElasticNetCV MultiTaskLasso MultiTaskLassoCV
            OrthogonalMatchingPursuit OrthogonalMatchingPursuitCV PassiveAggressiveClassifier
            PassiveAggressiveRegressor Perceptron PoissonRegressor QuantileRegressor RANSACRegressor Ridge
            RidgeCV RidgeClassifier RidgeClassifierCV SGDClassifier SGDOneClassSVM SGDRegressor
            TheilSenRegressor TweedieRegressor
        """,
        "sklearn.manifold": "ClassicalMDS Isomap LocallyLinearEmbedding MDS SpectralEmbedding TSNE",
        "sklearn.mixture": "BayesianGaussianMixture GaussianMixture",
        "sklearn.model_selection": """
            FixedThresholdClassifier TunedThresholdClassifierCV
        """,
        "sklearn.multiclass": "OneVsOneClassifier OneVsRestClassifier OutputCodeClassifier",
        "sklearn.multioutput": "ClassifierChain MultiOutputClassifier MultiOutputRegressor RegressorChain",
        "sklearn.naive_bayes": "BernoulliNB CategoricalNB ComplementNB GaussianNB MultinomialNB",
        "sklearn.neighbors": """
            KNeighborsClassifier KNeighborsRegressor KNeighborsTransformer KernelDensity LocalOutlierFactor
            NearestCentroid NearestNeighbors NeighborhoodComponentsAnalysis RadiusNeighborsClassifier
            RadiusNeighborsRegressor RadiusNeighborsTransformer
        """,
        "sklearn.neural_network": "BernoulliRBM MLPClassifier MLPRegressor",
        "sklearn.pipeline": "FeatureUnion Pipeline",
        "sklearn.preprocessing": """
            Binarizer FunctionTransformer KBinsDiscretizer KernelCenterer LabelBinarizer LabelEncoder
            MaxAbsScaler MinMaxScaler MultiLabelBinarizer Normalizer OneHotEncoder OrdinalEncoder
            PolynomialFeatures PowerTransformer QuantileTransformer RobustScaler SplineTransformer
            StandardScaler TargetEncoder
        """,
        "sklearn.random_projection": "GaussianRandomProjection SparseRandomProjection",
        "sklearn.semi_supervised": "LabelPropagation LabelSpreading SelfTrainingClassifier",
        "sklearn.svm": "LinearSVC LinearSVR NuSVC NuSVR OneClassSVM SVC SVR",
        "sklearn.tree": "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier ExtraTreeRegressor",
        "tabicl": "TabICLClassifier",
        "tabpfn": "TabPFNClassifier",
        "xgboost": "XGBClassifier XGBRFClassifier XGBRFRegressor XGBRegressor",
    }.items()
}
# Selectors of columns, and functions, which take no parameters in a config.
TOOLS = {
    "numpy": frozenset(
        """
        absolute arcsinh arctan cbrt cos exp expm1 log log10 log1p log2 sign sin sqrt square tanh
        """.split()  # noqa: SIM905 - a list of words
    ),
    "sklearn.compose": frozenset({"make_column_selector"}),
    "sklearn.feature_selection": frozenset({"chi2", "f_classif", "mutual_info_classif"}),
}
# Classes with two public modules, and the one that stands for both: keys of stored cells contain it.
CANONICAL_MODULES = {
    ("boostnoise", "CleanlabClassifier"): "boostnoise.eval",
}
PACKAGES = frozenset(module.partition(".")[0] for module in CLASSES)


def is_listed(module: str, model: str) -> bool:
    """Whether a class or tool is on the allow-list, or an installed package names it as one of its models."""
    return model in CLASSES.get(module, ()) or is_tool(module, model) or is_plugin(module, model)


def is_plugin(module: str, model: str) -> bool:
    """Whether an installed package names this class as one of its models."""
    return f"{module}:{model}" in {point.value for point in plugins("models").values()}


def is_tool(module: str, name: str) -> bool:
    """Whether a name of `module` is one of `TOOLS`."""
    return name in TOOLS.get(module, ())


def with_canonical_modules(value: Any) -> Any:
    """Copy of a description, or of parameters with descriptions, that names classes by `CANONICAL_MODULES`."""
    if isinstance(value, list):
        return [with_canonical_modules(item) for item in value]
    if not isinstance(value, dict):
        return value
    copy = {key: with_canonical_modules(item) for key, item in value.items()}
    module, model = copy.get("module"), copy.get("model")
    if isinstance(module, str) and isinstance(model, str):
        copy["module"] = CANONICAL_MODULES.get((module, model), module)
    return copy


def check_classes(classes: Iterable[tuple[object, object]], allowed: Collection[str]) -> None:
    """Check that classes may be imported, without importing anything.

    Parameters
    ----------
    classes : iterable of (module, name)
    allowed : collection of str
        Packages that the user allows in addition to the allow-list.

    Raises
    ------
    ConfigError
        If a name is not a string, or a class is not on the allow-list and is private or in a package that is
        not allowed.
    """
    for module, model in classes:
        if not isinstance(module, str) or not isinstance(model, str):
            raise ConfigError(f"module and model must be strings, got {module!r:.60} and {model!r:.60}")
        if is_listed(module, model):
            continue
        if any(part.startswith("_") for part in [*module.split("."), model]):
            raise ConfigError(f"{module}.{model} is not public")
        package = module.partition(".")[0]
        if package in allowed:
            continue
        if package not in PACKAGES:
            raise ConfigError(
                f"package {package!r} is not allowed; allowed packages: {', '.join(sorted(PACKAGES))}, "
                "and those given with --allow-module NAME (in Python: allow_modules)"
            )
        raise ConfigError(
            f"{module}.{model} is not an allowed class{_suggestion(module, model)}; --allow-module {package} "
            f"(in Python: allow_modules) allows all classes of {package}, whose code then runs"
        )


def _suggestion(module: str, model: str) -> str:
    names = sorted(f"{name}.{cls}" for name, classes in CLASSES.items() for cls in classes)
    same_class = [name for name in names if name.endswith(f".{model}")]
    matches = same_class or get_close_matches(f"{module}.{model}", names, n=1, cutoff=0.8)
    return f" (did you mean {matches[0]}?)" if matches else ""

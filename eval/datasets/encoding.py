"""Features of a data set, and the forms in which models take them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from .._wording import numbered
from ..config.dataset_spec import Categorical, FeaturesAs, Missing
from ..errors import ConfigError
from ..models.input_form import Form

Features = NDArray[np.float64] | pd.DataFrame

# Text with more values gets one-hot columns for its most frequent values only.
MAX_CATEGORIES = 255

DAY = pd.Timedelta(days=1)
EPOCH = pd.Timestamp(0)


def check_features(frame: pd.DataFrame, missing: Missing, context: str) -> pd.DataFrame:
    """Check features and convert them to a few types: NumPy's numbers and dates, text, and categories.

    Truth values become numbers, also if some are missing, and time spans become days.

    Parameters
    ----------
    frame : DataFrame of shape (n_samples, n_columns)
    missing : {"error", "drop_rows", "impute", "keep"}
        Treatment of missing values.  The first two raise an error; the caller has dropped the rows.
    context : str
        Prefix of error messages.

    Raises
    ------
    ConfigError
        If there is no column, a value is infinite or must not be missing, or a column has neither numbers, nor
        dates, nor text.
    """
    if frame.shape[1] == 0:
        raise ConfigError(f"{context}: has no columns except the target")
    incomplete = frame.columns[frame.isna().any()]
    if len(incomplete) and missing in ("error", "drop_rows"):
        raise ConfigError(
            f"{context}: missing values in {numbered(len(incomplete), 'column')} (first: {incomplete[0]!r}); "
            'fill or drop them, or set "missing" to "drop_rows", "impute" or "keep"'
        )
    if missing == "impute":
        empty = incomplete[frame[incomplete].isna().all().to_numpy()]
        if len(empty):
            raise ConfigError(f"{context}: column {empty[0]!r} has no values; drop it")
    changed = [name for name, dtype in frame.dtypes.items() if not _is_plain(dtype)]
    frame = _replace(frame, {name: _convert(frame[name], context) for name in changed})
    if np.isinf(frame.loc[:, is_number(frame)].to_numpy(dtype=np.float64)).any():
        raise ConfigError(f"{context}: has infinite values")
    return frame


def is_number(frame: pd.DataFrame) -> NDArray[np.bool_]:
    """Whether each column has numbers or truth values."""
    return frame.dtypes.map(types.is_numeric_dtype).to_numpy(dtype=bool)


def _is_date(frame: pd.DataFrame) -> NDArray[np.bool_]:
    return frame.dtypes.map(types.is_datetime64_dtype).to_numpy(dtype=bool)


def _is_plain(dtype: Any) -> bool:
    """Whether columns of a type need no conversion."""
    return isinstance(dtype, np.dtype) and dtype.kind in "biufM"


def _convert(column: pd.Series[Any], context: str) -> pd.Series[Any]:
    if types.is_numeric_dtype(column):  # a type of pandas
        return column.astype(np.float64)
    match types.infer_dtype(column, skipna=True):
        case "boolean":
            return column.astype("boolean").astype(np.float64)
        case "integer" | "floating" | "mixed-integer-float" | "decimal" | "empty":
            return column.astype(np.float64)
        case "datetime64" | "datetime" | "date":
            return pd.to_datetime(column, utc=True).dt.tz_localize(None)
        case "timedelta64" | "timedelta":
            return pd.to_timedelta(column) / DAY
        case "string" | "categorical":
            return column
    try:
        column.nunique()
    except TypeError:
        raise ConfigError(f"{context}: column {column.name!r} has neither numbers nor text") from None
    return column.map(str).where(column.notna())


def update_with_frame(digest: Any, frame: pd.DataFrame) -> None:
    """Update a hash with the names, types and values of columns."""
    for name, column in frame.items():
        kind: str
        values: NDArray[Any]
        categories: list[Any] = []
        if types.is_numeric_dtype(column):
            kind, values = column.dtype.kind, column.to_numpy(dtype="<f8")
        elif types.is_datetime64_dtype(column):
            kind, values = "date", column.to_numpy(dtype="<M8[ns]")
        else:
            kind = "category" if isinstance(column.dtype, pd.CategoricalDtype) else "text"
            coded = column.astype("category").cat
            values, categories = coded.codes.to_numpy(dtype="<i8"), coded.categories.tolist()
        digest.update(repr((name, kind, categories)).encode(errors="surrogatepass"))
        digest.update(np.ascontiguousarray(values).tobytes())


@dataclass(frozen=True)
class Encoding:
    """Conversion of features for models, as a config defines it.

    Attributes
    ----------
    features : {"frame", "numbers"} or None
        Whether each model takes the form that suits it, or all take numbers; None for the first, unless all
        features are numbers.
    categorical : {"onehot", "ordinal"}
        Text among numbers.  ``"onehot"``: after all other columns, one column of zeros and ones per value, for
        at most the `MAX_CATEGORIES` most frequent values.  ``"ordinal"``: the ranks 0, 1, ... of the values, in
        the order of the categories of the source, otherwise sorted; -1 for values that no training row has.
    missing : {"error", "drop_rows", "impute", "keep"}
        ``"impute"`` inserts the median, or the most frequent value of text.  Otherwise missing values remain:
        as NaN, and as zeros in one-hot columns.
    """

    features: FeaturesAs | None = None
    categorical: Categorical = "onehot"
    missing: Missing = "error"


@dataclass(eq=False)
class FeatureEncoder:
    """Conversion of features to a form, with medians, frequent values and categories of the training rows.

    Parameters
    ----------
    form : Form
        See `input_form`.
    encoding : Encoding
    """

    form: Form
    encoding: Encoding
    _medians: pd.Series[float] = field(init=False)
    _fill: dict[Any, Any] = field(default_factory=dict, init=False)
    _types: dict[Any, pd.CategoricalDtype] = field(default_factory=dict, init=False)
    _dates: list[Any] = field(default_factory=list, init=False)

    def fit(self, frame: pd.DataFrame) -> Self:
        """Read medians, frequent values and categories from the training rows."""
        numbers, dates = is_number(frame), _is_date(frame)
        text = frame.columns[~(numbers | dates)]
        if self.encoding.missing == "impute":
            self._medians = frame.loc[:, numbers].median().fillna(0.0)
            self._fill = {name: frame[name].median() for name in frame.columns[dates]}
            self._fill |= {name: value for name in text for value in frame[name].mode().iloc[:1]}
        if self.form != "frame":
            self._dates = list(frame.columns[dates])
            self._types = {name: self._category_type(frame[name]) for name in text}
        return self

    def _category_type(self, column: pd.Series[Any]) -> pd.CategoricalDtype:
        """Categories of a column of text."""
        dtype = column.dtype
        if not isinstance(dtype, pd.CategoricalDtype):
            dtype = pd.CategoricalDtype(sorted(column.dropna().unique()))
        if (
            self.form == "numbers"
            and self.encoding.categorical == "onehot"
            and len(dtype.categories) > MAX_CATEGORIES
        ):
            frequent = column.value_counts().index[:MAX_CATEGORIES]
            dtype = pd.CategoricalDtype(dtype.categories[dtype.categories.isin(frequent)])
        return dtype

    def transform(self, frame: pd.DataFrame) -> NDArray[np.float64] | pd.DataFrame:
        """Convert rows to a C-ordered float64 matrix with the form "numbers", otherwise to a frame."""
        if self.encoding.missing == "impute":
            frame = self._impute(frame)
        if self.form == "frame":
            return frame
        days = {name: (frame[name] - EPOCH) / DAY for name in self._dates}
        coded = _replace(frame, {name: _coded(frame[name], dtype) for name, dtype in self._types.items()})
        if self.form == "numbers" and self.encoding.categorical == "onehot":
            coded = pd.get_dummies(_replace(coded, days), columns=list(self._types), dtype=np.float64)
        else:
            coded = _replace(coded, days | {name: _ranks(coded[name], frame[name]) for name in self._ranked})
        return np.ascontiguousarray(coded.to_numpy(dtype=np.float64)) if self.form == "numbers" else coded

    def _impute(self, frame: pd.DataFrame) -> pd.DataFrame:
        # All numbers at once, as there may be many columns.
        is_incomplete = frame.isna().any().to_numpy()
        numbers = frame.loc[:, is_incomplete & is_number(frame)]
        filled = np.where(numbers.isna(), self._medians[numbers.columns], numbers)
        others = frame.drop(columns=numbers.columns).fillna(self._fill)
        return pd.concat([others, pd.DataFrame(filled, frame.index, numbers.columns)], axis=1)[frame.columns]

    @property
    def _ranked(self) -> list[Any]:
        """Columns of text that become ranks."""
        most = {"categories": np.inf, "few_categories": MAX_CATEGORIES, "numbers": 0}[self.form]
        return [name for name, dtype in self._types.items() if len(dtype.categories) > most]


def _coded(column: pd.Series[Any], dtype: pd.CategoricalDtype) -> pd.Series[Any]:
    """Convert text to categories; other values become missing."""
    return column.where(column.isin(dtype.categories)).astype(dtype)


def _ranks(coded: pd.Series[Any], column: pd.Series[Any]) -> pd.Series[Any]:
    """Ranks of categories; NaN for missing values, -1 for values without a category."""
    return coded.cat.codes.astype(np.float64).mask(column.isna())


def _replace(frame: pd.DataFrame, columns: dict[Any, pd.Series[Any]]) -> pd.DataFrame:
    """Replace columns, all at once, as there may be many."""
    if not columns:
        return frame
    replaced = pd.concat([columns.get(name, frame[name]) for name in frame.columns], axis=1)
    return replaced.set_axis(frame.columns, axis=1)

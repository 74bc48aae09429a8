"""Data frames and columns of other libraries as those of pandas."""

from __future__ import annotations

from typing import Any

import narwhals as nw


def as_pandas(data: Any) -> Any:
    """A frame or a column of polars, Arrow and others as one of pandas; anything else as it is.

    Parameters
    ----------
    data : Any
        The items of a dict, list or tuple are not converted.
    """
    if nw.dependencies.is_pandas_dataframe(data) or nw.dependencies.is_pandas_series(data):
        return data
    if nw.dependencies.is_into_dataframe(data):
        frame = nw.from_native(data, eager_only=True)
        converted = frame.to_pandas()
        if frame.implementation.is_polars():
            # Their order there depends on what else the process has read.
            for name in (name for name, dtype in frame.schema.items() if dtype == nw.Categorical):
                categories = converted[name].cat.categories
                converted[name] = converted[name].cat.reorder_categories(sorted(categories))
        return converted
    if nw.dependencies.is_into_series(data):
        return nw.from_native(data, series_only=True).to_pandas()
    return data

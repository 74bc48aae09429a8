"""Config of the noise of an installed package."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field

from robust_splits.plugins import plugin_names

from ..extensions.references import Reference, name_of
from ..noise.base import Noise
from ..noise.extension_noise import GROUP, ExtensionNoise
from ..noise.function_noise import FunctionNoise
from .noise_base import NO_NOISE, NoiseBase, RatesBase, schema_of_noise


def _schema_of_function(schema: dict[str, Any], spec: type[NoiseBase]) -> None:
    """Offer the kinds of installed packages, which need no `function`."""
    schema_of_noise(schema, spec)
    added = plugin_names(GROUP, ())
    if added:
        schema["properties"]["kind"] = {"enum": ["function", *added], "type": "string"}
        schema["required"].remove("function")


class FunctionSpec(RatesBase):
    """Noise of an installed package: a function, whose name may also be the kind.

    Attributes
    ----------
    function : str
        Name of the noise.
    params : dict
        Values of the function's own parameters.
    """

    noise_class = FunctionNoise
    model_config = ConfigDict(json_schema_extra=_schema_of_function)
    kind: Literal["function"]
    function: Reference
    params: dict[str, Any] = Field(default={})

    @classmethod
    def _default_name(cls, value: dict[str, Any]) -> str:
        function = value.get("function")
        return name_of(function) if function else value["kind"]

    @classmethod
    def _details(cls, value: dict[str, Any]) -> list[str]:
        params = value.get("params")
        return [f"{key}={item}" for key, item in params.items()] if isinstance(params, dict) else []

    @property
    def noise_by_rate(self) -> list[tuple[float, Noise]]:
        """Noise rates and the noise at each."""
        return [
            (rate, ExtensionNoise(self.function, rate, self.params)) if rate else NO_NOISE
            for rate in self.rates
        ]

"""Parameters by name, as in the constructor: the interface of scikit-learn's estimators."""

from __future__ import annotations

import functools
import inspect
import sys
from typing import Any, Self

from gpuasm.errors import UsageError


def not_fitted(expected: str, found: str, remedy: str) -> UsageError:
    """Return the error of an estimator without `fit`: where scikit-learn is loaded, also its NotFittedError."""
    return (_not_fitted_of_scikit_learn() if "sklearn" in sys.modules else UsageError)(expected, found, remedy)


@functools.cache
def _not_fitted_of_scikit_learn() -> type[UsageError]:
    from sklearn.exceptions import NotFittedError  # noqa: PLC0415 - only where it is loaded

    return type("NotFittedUsageError", (UsageError, NotFittedError), {})


class Parameters:
    """Base of estimators: each parameter of the constructor is an attribute of the same name."""

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        return tuple(inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002 - scikit-learn's signature
        """Return the parameters by name; with ``deep`` also those of estimators among them, as "som__rows"."""
        found = {name: getattr(self, name) for name in self._names()}
        inner = {name: value for name, value in found.items() if deep and isinstance(value, Parameters)}
        return found | {f"{name}__{key}": v for name, value in inner.items() for key, v in value.get_params().items()}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name.

        Raises
        ------
        UsageError
            If there is no such parameter.
        """
        for name, value in parameters.items():
            outer, _, inner = name.partition("__")
            if inner and isinstance(getattr(self, outer, None), Parameters):
                getattr(self, outer).set_params(**{inner: value})
                continue
            if name not in self._names():
                raise UsageError(f"a parameter named {', '.join(self._names())}", repr(name), "use one of those names")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.get_params(deep=False).items())
        return f"{type(self).__name__}({inside})"

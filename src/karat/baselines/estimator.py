"""What every model shares: parameters in the constructor, and learned state only after `fit`."""

from __future__ import annotations

import inspect
from typing import Any, Self

from karat.errors import InputError


class Estimator:
    """scikit-learn's conventions without importing scikit-learn, which takes a second.

    A subclass names its parameters in the constructor and stores each unchanged under its own
    name; `fit` checks them. What is learned ends with an underscore. `sklearn.base.clone` and
    `sklearn.utils.validation.check_is_fitted` work.

    Examples
    --------
    >>> class Shift(Estimator):
    ...     def __init__(self, by=1):
    ...         self.by = by
    >>> Shift(by=3), Shift().get_params()
    (Shift(by=3), {'by': 1})
    """

    @classmethod
    def _parameters(cls) -> list[inspect.Parameter]:
        return [p for p in inspect.signature(cls.__init__).parameters.values() if p.name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's parameters by name; `deep` changes nothing, since none is an estimator."""
        return {p.name: getattr(self, p.name) for p in self._parameters()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name and return the estimator."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise InputError(
                    f"{type(self).__name__} has no parameter {name!r}", fix=f"it has {', '.join(known)}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = [
            f"{p.name}={getattr(self, p.name)!r}"
            for p in self._parameters()
            if getattr(self, p.name) is not p.default and getattr(self, p.name) != p.default
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        return any(name.endswith("_") and not name.startswith("_") for name in vars(self))

    def __sklearn_tags__(self) -> Any:
        # Only scikit-learn calls this, so it is there.
        from sklearn.base import BaseEstimator

        return BaseEstimator().__sklearn_tags__()

    def check_fitted(self) -> None:
        """Raise when `fit` has not been called."""
        if not self.__sklearn_is_fitted__():
            raise InputError(f"this {type(self).__name__} is not fitted", fix="call fit first")

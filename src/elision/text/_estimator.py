"""What scikit-learn asks of an estimator, without importing it: a question to a script needs none.

Importing scikit-learn costs a second and more, several times what understanding a sentence does.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["Estimator", "not_fitted"]


class Estimator:
    """Options by name, as ``sklearn.base.BaseEstimator`` has them."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 - none is nested
        """Return the options by name."""
        return {name: getattr(self, name) for name in self._options()}

    def set_params(self, **options: Any) -> Self:
        """Set some options."""
        known = self._options()
        for name, value in options.items():
            if name not in known:
                names = ", ".join(known)
                raise ValueError(f"invalid parameter {name!r} for {type(self).__name__}: {names}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        usual = inspect.signature(type(self).__init__).parameters
        given = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not usual[name].default and value != usual[name].default
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator  # noqa: PLC0415 - slow

        return BaseEstimator().__sklearn_tags__()

    @classmethod
    def _options(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]


def not_fitted(estimator: object) -> NoReturn:
    """Complain of an estimator that was not fitted, as scikit-learn does."""
    from sklearn.exceptions import NotFittedError  # noqa: PLC0415 - slow

    raise NotFittedError(f"this {type(estimator).__name__} is not fitted yet: call fit first")

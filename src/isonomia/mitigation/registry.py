"""What a mitigation is, and the registry of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from isonomia.data import Task
from isonomia.languages import Message, take_texts
from isonomia.parameters import Parameter, parameters_of, read_options
from isonomia.registry import Registry

#: When it works: on the training data, while the model is trained, or on a trained model's predictions.
Stage = Literal["before", "in", "after"]
#: What it cannot do without: an estimator that takes sample weights; scores (not only decisions); the protected
#: attribute of the people decided about; an optional package.
Need = Literal["sample_weight", "scores", "attribute", "fairlearn", "torch"]
ALL_TASKS: tuple[Task, ...] = ("binary", "multiclass", "regression")
CLASSES: tuple[Task, ...] = ("binary", "multiclass")


@dataclass(frozen=True, kw_only=True)
class Mitigation:
    """A way to make a model more even-handed.

    Attributes
    ----------
    id : str
        Its name in code and specs.
    title, about : Message
        Its name in a report and one line on what it does. Plain texts will do.
    stage : "before", "in" or "after"
        Whether it changes the training data, the training, or the predictions.
    estimator : type
        The scikit-learn estimator.
    needs : tuple
        What it cannot do without; "attribute" means that it reads the protected attribute at decision time.
    tasks : tuple of "binary", "multiclass", "regression"
        The tasks it is defined for.
    randomised : bool
        Whether a decision may depend on chance.
    changes_labels : bool
        Whether it trains on other labels than were observed.
    fits : int
        About how many times a model is trained.
    options : mapping
        Options of the estimator that no goal changes.
    slow : bool
        Whether it takes minutes where others take seconds: tried only where it is named.
    reference : str
        The publication.
    """

    id: str
    title: Message
    about: Message
    stage: Stage
    estimator: type[Any]
    needs: tuple[Need, ...] = ()
    tasks: tuple[Task, ...] = ALL_TASKS
    randomised: bool = False
    changes_labels: bool = False
    fits: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)
    slow: bool = False
    reference: str = ""

    def __post_init__(self) -> None:
        take_texts(self, "title", "about")

    @property
    def purpose(self) -> str:
        """One line on what it does."""
        return self.about.text()

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The options of the estimator, apart from the model inside and the protected attribute."""
        return tuple(one for one in parameters_of(self.estimator) if one.name not in ("sensitive", "drop_sensitive"))

    def read(self, options: Mapping[str, Any], *, path: str = "") -> dict[str, Any]:
        """The options given as plain values, or everything that is wrong with them; `path` is put before names."""
        return read_options(self.parameters, options, owner=f"The mitigation '{self.id}'", path=path)


#: All mitigations; another package adds its own through the entry point group ``isonomia.mitigations``.
MITIGATIONS: Registry[Mitigation] = Registry(
    "mitigation",
    package=("isonomia.mitigation.before", "isonomia.mitigation.training", "isonomia.mitigation.after"),
    order=lambda entry: (("before", "in", "after").index(entry.stage), entry.id),
)

"""What a model format is, and the registry of all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from isonomia.models._predictors import Predictor
from isonomia.parameters import Choice, Integer, Parameter, Several, Text
from isonomia.registry import Registry

#: The largest model file read unless the caller says otherwise.
MAX_BYTES = 1 << 30
#: The option of `load_model` that a format takes whose content is larger than its file.
BYTE_LIMIT = Parameter("max_bytes", Integer(1), MAX_BYTES, "largest file to read, in bytes")
#: The option of `load_model` that a format takes which builds only listed types: those that the user adds to the list.
TRUSTED_TYPES = Parameter("trusted", Several(Text("a type: module.Class")), (), "types that a file may contain besides")


@dataclass(frozen=True, kw_only=True)
class ModelFormat:
    """One format of model files.

    Attributes
    ----------
    id : str
        Its name in options and specs.
    title : str
        Its name in sentences.
    purpose : str
        One line for listings.
    suffixes : tuple of str
        The suffixes that stand for it.
    load : callable
        ``load(content, name=..., **options)`` gives what `Model.of` takes; the options are those in `parameters`.
    starts : callable
        Whether the content of a file begins like this format.
    extra : str
        The extra of the package that installs what it needs.
    trust : str
        Where loading a file runs the code in it: what such a file is, after "it is"; empty elsewhere.
    instead : str
        What to do rather than trust it.
    save : callable, optional
        ``save(estimator)`` gives the content of a file.
    owns : callable, optional
        Whether an object in memory is a model of this kind; `predictor` then asks it.
    predictor : callable, optional
        ``predictor(estimator)`` for an object that it owns.
    parameters : tuple of Parameter
        Options of `load_model` that `load` takes.
    """

    id: str
    title: str
    purpose: str
    suffixes: tuple[str, ...]
    load: Callable[..., Any]
    starts: Callable[[bytes], bool]
    extra: str = ""
    trust: str = ""
    instead: str = ""
    save: Callable[[Any], bytes] | None = None
    owns: Callable[[object], bool] | None = None
    predictor: Callable[[Any], Predictor] | None = None
    parameters: tuple[Parameter, ...] = ()

    def takes(self, option: str) -> bool:
        """Whether an option of `load_model` is for this format."""
        return any(one.name == option for one in self.parameters)

    def __str__(self) -> str:
        return f"{self.title} ({', '.join(self.suffixes)}){', with trust=True only' if self.trust else ''}"


#: Every model format by its id; another package adds its own through the entry point group
#: ``isonomia.model_formats``. Those that need trust are listed last.
MODEL_FORMATS: Registry[ModelFormat] = Registry(
    "model_format", word="model format", package="isonomia.models.formats", order=lambda entry: (entry.trust, entry.id)
)
#: The id of a model format.
MODEL_FORMAT_NAME = Choice(MODEL_FORMATS.ids)


def format_of_suffix(suffix: str) -> ModelFormat | None:
    """The format that a suffix stands for."""
    return next((one for one in MODEL_FORMATS if suffix.lower() in one.suffixes), None)


def recognise(content: bytes) -> ModelFormat | None:
    """The format that a content begins like; those that can run code are recognised first."""
    return next((one for one in reversed(tuple(MODEL_FORMATS)) if one.starts(content)), None)


def supported() -> str:
    """All formats with their suffixes, for messages."""
    return "; ".join(map(str, MODEL_FORMATS))

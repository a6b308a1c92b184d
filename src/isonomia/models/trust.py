"""May this run code, or reach beyond this machine? One place that decides; every door asks it.

Trusted is the person who runs the program, and nobody else: not a spec, not a model file, not a stored report. What
that person names directly is taken at its word where it is their own; what a file names needs their word too.

============================  =======================================  ======================================
what                          named by the person (`Trust.given`)      written in a file (`Trust.asked_by`)
============================  =======================================  ======================================
a function below the folder   runs                                     ``trust=True``, or its module is named
a function from elsewhere     its module is named                      its module is named
a pickle, a PyTorch program   ``trust=True``                           ``trust=True``
other types in a skops file   each is named                            each is named
an address                    is asked                                 ``trust=True``, or it is named
============================  =======================================  ======================================
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, Union

from isonomia.config_files import path_of
from isonomia.errors import ModelError, UntrustedError, close_to
from isonomia.parameters import Boolean, Either, Made, Several, Text

#: A file that asks; none where the person names the thing directly.
Asker = Literal["", "spec", "study"]
#: What a caller passes as ``trust``.
Given = Union[bool, Sequence[str], "Trust"]
#: Folders of this name hold what was installed, wherever they are.
_INSTALLED = frozenset({"site-packages", "dist-packages"})


@dataclass(frozen=True)
class Trust:
    """The word of the person who runs the program, and who asks for it.

    Attributes
    ----------
    everything : bool
        Whether files that run code may be loaded, and what a spec asks for may be done.
    names : tuple of str
        Modules whose functions may be called, types that a skops file may contain, addresses that a spec may name.
    asker : str
        What asks: a "spec" or a "study"; empty where the person named the thing directly.
    """

    everything: bool = False
    names: tuple[str, ...] = ()
    asker: Asker = ""

    @classmethod
    def given(cls, trust: Given) -> Trust:
        """What a caller passes as ``trust``: yes, names, or both as a `Trust`."""
        if isinstance(trust, Trust):
            return trust
        return cls(trust) if isinstance(trust, bool) else cls(names=tuple(trust))

    def asked_by(self, asker: Asker) -> Trust:
        """The same word, where a file asks for it."""
        return replace(self, asker=asker)

    @property
    def types(self) -> tuple[str, ...]:
        """The names that may be types: all but addresses."""
        return tuple(name for name in self.names if "://" not in name)

    def allow_function(self, source: str) -> bool:
        """Refuse ``module:name`` unless it may be imported and called; whether that took the person's word."""
        module = source.partition(":")[0]
        named = self._covers(module)
        if self.asker and not (self.everything or named):
            raise UntrustedError(
                f"{_who(self.asker)} asks to run code: {source!r:.200}. If you trust whoever wrote it, pass "
                f"trust=True, or trust={[module]!r:.200} for this module alone."
            )
        if not named and not is_own_code(module):
            raise UntrustedError(
                f"{source!r:.200} is code from outside of the working folder ('{Path.cwd()}'). If it is meant to run, "
                f"name its module: trust={[module]!r:.200}."
            )
        return bool(self.asker or named)

    def allow_file(self, name: str, what: str, instead: str) -> None:
        """Refuse a file that runs code when it is loaded; `what` it is, and what to do `instead`."""
        if self.everything:
            return
        if self.asker:
            raise UntrustedError(
                f"{_who(self.asker)} asks to run code: '{name}' is {what}, and loading it runs whatever its author "
                f"put in. {instead}, or, if you trust whoever wrote both, pass trust=True."
            )
        raise UntrustedError(
            f"'{name}' is {what}: loading it runs whatever code its author put in. {instead}, give its "
            "predictions instead, or, if you made the file yourself, pass trust=True."
        )

    def allow_address(self, address: str) -> None:
        """Refuse an address that a file names, where rows would be sent to or read from."""
        shown = _bare(address)
        if self.asker and not (self.everything or shown in map(_bare, self.names)):
            raise UntrustedError(
                f"{_who(self.asker)} asks to connect to {shown!r:.200}. If you trust whoever wrote it, pass "
                f"trust=True, or trust={[shown]!r:.200} for this address alone."
            )

    def allow_folder(self, folder: str | Path) -> None:
        """Refuse a folder outside of the working folder, where a file asks to write."""
        target, here = path_of(folder).resolve(), Path.cwd().resolve()
        if self.asker and not self.everything and not target.is_relative_to(here):
            raise UntrustedError(
                f"{_who(self.asker)} asks to write into '{target}', which is outside of the working folder ('{here}'). "
                "Name the folder yourself, or, if you trust whoever wrote it, pass trust=True."
            )

    def _covers(self, module: str) -> bool:
        return any(module == name or module.startswith(f"{name}.") for name in self.names)


#: Its kind.
TRUST = Either(
    Boolean(),
    Several(Text("a module, a type or an address")),
    Made(lambda value: isinstance(value, Trust), "a Trust"),
)


def is_own_code(module: str) -> bool:
    """Whether a module lies below the working folder, and was not installed there; nothing is imported to see it.

    >>> is_own_code("subprocess"), is_own_code("numpy.random")
    (False, False)
    """
    places = _places(_first(module))
    return bool(places) and all(map(_is_own, places))


def _spec(package: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(package)
    except (ImportError, ValueError, AttributeError):  # a program that is run as `__main__` has no spec
        return None


def _exists(package: str) -> bool:
    return package in sys.modules or _spec(package) is not None


def _places(package: str) -> list[Path]:
    """The file or the folders of a module at the top; none where it is built in, or does not exist."""
    spec = _spec(package)
    if spec is None:
        file = getattr(sys.modules.get(package), "__file__", None)
        return [] if file is None else [Path(file)]
    if spec.submodule_search_locations is not None:
        return [Path(item) for item in spec.submodule_search_locations]
    return [Path(spec.origin)] if spec.has_location and spec.origin else []


def _is_own(place: Path) -> bool:
    path, here = place.resolve(), Path.cwd().resolve()
    library = [Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")]
    installed = _INSTALLED & set(path.parts) or any(path.is_relative_to(folder) for folder in library)
    return path.is_relative_to(here) and not installed


def _who(asker: Asker) -> str:
    return "The study" if asker == "study" else "The spec"


def _bare(address: str) -> str:
    """An address without names, passwords and keys.

    >>> _bare("https://ann:secret@example.org:8443/predict?key=1")
    'https://example.org:8443/predict'
    """
    scheme, sign, rest = address.partition("://")
    host, slash, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
    return f"{scheme.lower()}{sign}{host.rpartition('@')[2]}{slash}{path}"


def _first(module: str) -> str:
    return module.partition(".")[0]


def import_object(source: str, trust: Trust | None = None) -> Any:
    """The object that ``module:name`` names, where it may be imported; by default as the person's own words.

    >>> import_object("math:pi", Trust(names=("math",)))
    3.141592653589793
    >>> import_object("os:system", Trust(True).asked_by("spec"))
    Traceback (most recent call last):
    ...
    isonomia.errors.UntrustedError: 'os:system' is code from outside of the working folder (...). If it is meant to \
run, name its module: trust=['os'].
    """
    trust = trust or Trust()
    module_name, _, attribute = source.partition(":")
    if trust.asker or _exists(_first(module_name)):  # of one that is not there the import says so
        trust.allow_function(source)
    with staying(f"'{source}'"):
        return _attribute(_module(module_name, source), attribute, source, trust)


def _module(name: str, source: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ModelError(
            f"The module of '{source}' could not be imported: {error}. Is its folder on PYTHONPATH?"
        ) from error
    except Exception as error:  # a module may raise anything while it is imported
        raise ModelError(f"The module of '{source}' could not be imported: {type(error).__name__}: {error}") from error


def _attribute(loaded: Any, attribute: str, source: str, trust: Trust) -> Any:
    for part in attribute.split("."):
        if not hasattr(loaded, part):
            public = [name for name in dir(loaded) if not name.startswith("_")]
            raise ModelError(f"'{source}' cannot be found: no '{part}' in it.{close_to(part, public)}")
        loaded = getattr(loaded, part)
        if isinstance(loaded, ModuleType):  # one module leads into others: mine:os.system
            trust.allow_function(f"{loaded.__name__}:{part}")
    return loaded


@contextmanager
def staying(what: str) -> Iterator[None]:
    """Code of others may not end the program: its `SystemExit` becomes an error."""
    try:
        yield
    except SystemExit as error:
        raise ModelError(
            f"{what} tried to end the program (SystemExit: {error.code!r:.80}); it was stopped."
        ) from error

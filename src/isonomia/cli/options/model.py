"""The model that a command asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from isonomia.cli.options.shared import ModelFile
from isonomia.cli.options.trust import TrustOptions
from isonomia.errors import SpecError

if TYPE_CHECKING:
    from isonomia.models import Model


@dataclass(frozen=True, kw_only=True)
class ModelOptions(TrustOptions):
    """The model of a command."""

    model: ModelFile = None

    def load(self) -> Model | None:
        """The model of a file, `module:callable` or an address; none where none is named."""
        if self.model is None:
            return None
        from isonomia.models import load_model

        return load_model(self.model, trust=self.word())

    def require(self) -> Model:
        """The model; an error where none is named."""
        found = self.load()
        if found is None:
            raise SpecError("`--model` must name a model to ask: a file, module:callable or an http address.")
        return found

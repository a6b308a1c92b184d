"""The step of adversarial training, in double precision, inside Fairlearn's torch engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from isonomia.errors import require

#: What an import error says the libraries are for.
PURPOSE = "Adversarial training"


def adversary_engine(*, alone: bool = False) -> type[Any]:
    """Fairlearn's torch engine with the step that Zhang, Lemoine and Mitchell (2018) define.

    With g the gradient of the prediction's loss and a that of the adversary's, both for one array of weights, the step
    follows g - <g, u> u - alpha a, where u = a / |a|. Fairlearn 0.13 sums the products of all pairs of rows instead of
    the inner product, and divides by zero where a vanishes. `alone`: there is no adversary, the step follows g.
    """
    torch = require("torch", extra="torch", purpose=PURPOSE)
    fairlearn = require("fairlearn.adversarial._pytorch_engine", extra="mitigation", purpose=PURPOSE)

    class Engine(fairlearn.PytorchEngine):  # type: ignore[misc, name-defined]
        def __move_model__(self) -> None:
            super().__move_model__()
            self.predictor_model.double()
            self.adversary_model.double()

        def validate_input(self, *arrays: Any) -> tuple[Any, ...]:
            return tuple(torch.tensor(array, dtype=torch.double) for array in arrays)

        def evaluate(self, X: Any) -> Any:
            with torch.no_grad():
                return self.predictor_model(torch.tensor(X, dtype=torch.double)).numpy()

        def train_step(self, X: Any, Y: Any, A: Any) -> tuple[float, float]:
            weights = list(self.predictor_model.parameters())
            predicted = self.predictor_model(X)
            loss = self.predictor_loss(predicted, Y)
            towards = torch.autograd.grad(loss, weights, retain_graph=True)
            if alone:
                steps, guessed = towards, loss
            else:
                seen = torch.cat((predicted, Y), dim=1) if self.base.pass_y_ else predicted
                guessed = self.adversary_loss(self.adversary_model(seen), A)
                mine = list(self.adversary_model.parameters())
                both = torch.autograd.grad(guessed, weights + mine)
                steps = [self._step(g, a) for g, a in zip(towards, both, strict=False)]
                _follow(self.adversary_optimizer, mine, both[len(weights) :])
            _follow(self.predictor_optimizer, weights, steps)
            return loss.item(), guessed.item()

        def _step(self, g: Any, a: Any) -> Any:
            length = a.norm()
            u = a / length if length > 0 else a
            return g - (g * u).sum() * u - self.base.alpha * a

    return Engine


@contextmanager
def one_thread() -> Iterator[None]:
    """Train with one thread: the networks are small, and several threads wait for each other most of the time."""
    torch = require("torch", extra="torch", purpose=PURPOSE)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _follow(optimizer: Any, weights: Any, steps: Any) -> None:
    for weight, step in zip(weights, steps, strict=True):
        weight.grad = step
    optimizer.step()

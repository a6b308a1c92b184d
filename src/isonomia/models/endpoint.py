"""A model behind an address: called in batches, over HTTP, only because the caller named the address."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Unpack

import narwhals.stable.v2 as nw
import numpy as np

from isonomia.data import Task
from isonomia.errors import ModelError, SpecError
from isonomia.models._http import Caller, read_address
from isonomia.models._inference import PlainTalk, Talk, TensorTalk
from isonomia.models._predictors import Answer
from isonomia.models.model import Model, ModelOptions
from isonomia.models.surface import SurfaceKind
from isonomia.parameters import Anything, Choice, Integer, Keyed, Number, Text, validated

#: How a server is talked to.
EndpointProtocol = Literal["auto", "v2", "json"]

_V2 = re.compile(r"/v2/models/[^/]+(/versions/[^/]+)?(/infer)?/?$")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


@validated(
    protocol=Choice(("auto", "v2", "json")),
    batch=Integer(1),
    timeout=Number(above=0, hint=" (seconds)"),
    retries=Integer(0, 10),
    max_bytes=Integer(1),
    headers=Keyed(Anything("a text")).or_none(),
    output_name=Text().or_none(),
)
def endpoint(
    address: str,
    *,
    protocol: EndpointProtocol = "auto",
    batch: int = 1000,
    timeout: float = 30.0,
    retries: int = 3,
    max_bytes: int = 64 << 20,
    headers: Mapping[str, str] | None = None,
    output_name: str | None = None,
    **options: Unpack[ModelOptions],
) -> Model:
    """A model that answers over HTTP.

    Parameters
    ----------
    address : str
        ``http(s)://host/v2/models/NAME`` (also with ``/versions/V``) of a server that speaks the open inference
        protocol; any other address is sent rows as plain JSON.
    protocol : "auto", "v2" or "json"
        Protocol of the server; by default read off the address.
    batch : int
        Number of rows in one request.
    timeout : float
        Seconds a request may take, from its first byte to the last one of its answer.
    retries : int
        Number of times a request is sent again when there is no connection or the server says 502, 503 or 504; with a
        pause of 0.25 s first, doubled each time up to 8 s. Nothing else is tried again.
    max_bytes : int
        Largest answer to read, in bytes.
    headers : mapping, optional
        Headers sent with every request, for example ``{"Authorization": "Bearer ..."}``; never shown or recorded.
    output_name : str, optional
        Output to ask for and to read in version 2, for example "predict_proba".
    **options
        Those of `Model.of`: features, task, classes, positive, threshold, output, name.

    Notes
    -----
    Version 2 [1]_: the metadata of the model say which tensors it takes; one input gets the columns as a matrix in the
    order of `features`, several inputs get the columns of their names. A server that describes no input gets one tensor
    "input-0" of FP64. Plain JSON: ``{"instances": [{column: value, ...}]}`` is sent, ``{"predictions": [...]}`` or the
    bare list is read [2]_; a prediction is a label, a number, a list of probabilities or ``{class: probability}``.

    The rows leave this process for the address given, and for no other: redirects are not followed, proxies not looked
    up. Certificates of https are verified (``SSL_CERT_FILE`` names other authorities).

    References
    ----------
    .. [1] Open Inference Protocol, KServe.
    .. [2] TensorFlow Serving, RESTful API: the row format.

    Examples
    --------
    >>> endpoint("localhost:8080/predict")
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: An endpoint's address must begin with http:// or https:// and name a host; got \
'localhost:8080/predict'.
    """
    parts = read_address(address)
    _check_headers(headers or {})
    caller = Caller(parts, float(timeout), retries, max_bytes, dict(headers or {}))
    is_v2 = protocol == "v2" or (protocol == "auto" and _V2.search(parts.path) is not None)
    if output_name is not None and not is_v2:
        raise SpecError(
            "`output_name` is for the open inference protocol (protocol='v2'); this address is asked in JSON."
        )
    talk: Talk = TensorTalk(caller, output_name) if is_v2 else PlainTalk(caller)
    model = Model.of(EndpointPredictor(talk, caller, batch, "v2" if is_v2 else "json"), **options)
    model.format, model.source = "endpoint", caller.shown
    return model


def is_address(source: object) -> bool:
    """Whether a model's source is an address rather than a file."""
    return isinstance(source, str) and source.lower().startswith(("http://", "https://"))


@dataclass
class EndpointPredictor:
    """Rows sent in batches, answers put together."""

    talk: Talk
    caller: Caller
    batch: int
    protocol: str
    make: str = field(init=False)
    names: tuple[str, ...] | None = field(init=False)
    n_features: int | None = field(init=False)
    task: Task | None = None
    alias: Callable[[str], str] | None = None

    def __post_init__(self) -> None:
        self.make = f"endpoint {self.caller.shown}"
        self.names, self.n_features = self.talk.names, self.talk.n_features

    def ask(self, table: nw.DataFrame[Any], kind: SurfaceKind | None, *, decide: bool) -> Answer:
        """One request per batch; every batch must be answered in the same form."""
        starts = range(0, max(len(table), 1), self.batch)
        replies = [self.talk.ask(table[start : start + self.batch]) for start in starts]
        first = replies[0]
        for reply in replies[1:]:
            same = reply.values.shape[1:] == first.values.shape[1:] and _family(reply.values) == _family(first.values)
            if not same or reply.classes != first.classes:
                raise ModelError(
                    f"The endpoint {self.caller.shown} returned different kinds of answers for different batches; "
                    "every batch needs the same kind."
                )
        values = np.concatenate([reply.values for reply in replies])
        stated: SurfaceKind | None = "probability" if first.classes is not None else kind
        return Answer(values, stated, first.classes, calls=len(replies))


def _family(values: np.ndarray[Any, Any]) -> str:
    """Whole numbers and others are the same to JSON, which writes 1.0 as 1."""
    return "number" if values.dtype.kind in "iuf" else values.dtype.kind


def _check_headers(headers: Mapping[str, str]) -> None:
    for header, content in headers.items():
        if not _TOKEN.fullmatch(str(header)) or not str(content).isprintable() or not str(content).isascii():
            raise SpecError(f"`headers` must have plain names and one-line ASCII values; that of {header!r} is not.")

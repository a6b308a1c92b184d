"""One address, called over HTTP: with a time limit and a size limit, retried only where that can help."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, urlsplit

from isonomia.errors import ModelError, SpecError

#: Answers that say "not now": a gateway without its server, a server that is starting or overloaded.
_NOT_NOW = (502, 503, 504)
#: The first pause before a further try, doubled each time; and the longest one.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 8.0
#: How much of an answer an error shows.
_EXCERPT = 200

#: How to wait; tests put a clock of their own here.
pause = time.sleep


class TooLateError(Exception):
    """The whole answer did not come in time."""


def read_address(address: str) -> SplitResult:
    """The parts of an address, or a SpecError that says what is wrong with it.

    >>> read_address("http://localhost:8080/v2/models/loans").port
    8080
    >>> read_address("ftp://localhost/model")
    Traceback (most recent call last):
    ...
    isonomia.errors.SpecError: An endpoint's address must begin with http:// or https:// and name a host; got \
'ftp://localhost/model'.
    """
    if any(ord(sign) <= 32 or ord(sign) >= 127 for sign in address):
        raise SpecError(f"An endpoint's address must be plain ASCII without spaces; got {address!r}.")
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise SpecError(f"{address!r} is not an address: {error}.") from None
    if parts.scheme not in ("http", "https") or not host:
        raise SpecError(f"An endpoint's address must begin with http:// or https:// and name a host; got {address!r}.")
    if parts.username is not None or parts.password is not None:
        raise SpecError(
            "An endpoint's address must not contain a user or password; pass headers={'Authorization': ...}."
        )
    if parts.fragment:
        raise SpecError(f"An endpoint's address must not have a part after '#'; got {address!r}.")
    return parts


@dataclass
class Caller:
    """Asks one host for JSON. Nothing else is contacted: no redirect is followed, no proxy is looked up.

    Attributes
    ----------
    timeout : seconds that one try may take, from the first byte sent to the last one received
    retries : how often a failed connection, or an answer 502, 503 or 504, is tried again
    max_bytes : the largest answer that is read
    headers : sent with every request; never shown
    """

    address: SplitResult = field(repr=False)
    timeout: float = 30.0
    retries: int = 3
    max_bytes: int = 64 << 20
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def shown(self) -> str:
        """The address for messages; a query may hold a key, so it is left out."""
        return f"{self.address.scheme}://{self.address.netloc}{self.address.path}"

    def get(self, path: str) -> Any:
        """What the host says under a path, read as JSON."""
        return self._ask("GET", path, None, "about itself")

    def post(self, path: str, content: Any, *, n: int) -> Any:
        """What the host answers to a JSON content about `n` rows."""
        try:
            body = json.dumps(content, allow_nan=False).encode()
        except ValueError:
            raise ModelError(
                f"The endpoint {self.shown} is asked in JSON, which has no infinite numbers; the rows contain some."
            ) from None
        return self._ask("POST", path, body, f"about {n} rows")

    def _ask(self, method: str, path: str, body: bytes | None, what: str) -> Any:
        wait, tries = _FIRST_PAUSE, 0
        while True:
            tries += 1
            try:
                status, reason, found = self._once(method, path, body)
            except TooLateError:
                raise ModelError(
                    f"The endpoint {self.shown} did not answer within {self.timeout:g} seconds when asked {what}. "
                    "Raise timeout=, or ask about fewer rows at once (batch=)."
                ) from None
            except (OSError, http.client.HTTPException) as error:
                problem = f"could not be reached: {type(error).__name__}: {error}"
            else:
                if status == 200:
                    return self._json(found, what)
                problem = f"answered {status} {_printable(reason)} when asked {what}{_excerpt(found)}"
                if status not in _NOT_NOW:
                    hint = " Redirects are not followed: give the final address." if 300 <= status < 400 else ""
                    raise ModelError(f"The endpoint {self.shown} {problem}.{hint}")
            if tries > self.retries:
                times = "once" if tries == 1 else f"{tries} times"
                raise ModelError(f"The endpoint {self.shown} {problem}. It was tried {times}.")
            pause(wait)
            wait = min(2 * wait, _LONGEST_PAUSE)

    def _once(self, method: str, path: str, body: bytes | None) -> tuple[int, str, bytes]:
        kind = http.client.HTTPSConnection if self.address.scheme == "https" else http.client.HTTPConnection
        connection = kind(self.address.hostname or "", self.address.port, timeout=self.timeout)
        try:
            try:
                connection.connect()
            except TimeoutError as error:  # nobody there: worth another try, unlike an answer that takes too long
                raise ConnectionError(f"no connection within {self.timeout:g} seconds") from error
            with _Deadline(connection.sock, self.timeout):
                connection.request(method, path, body, {"Accept": "application/json", **self._sent(body)})
                response = connection.getresponse()
                return response.status, response.reason, self._content(response)
        finally:
            connection.close()

    def _sent(self, body: bytes | None) -> dict[str, str]:
        own = {} if body is None else {"Content-Type": "application/json"}
        return {**own, "User-Agent": "isonomia", "Connection": "close", **self.headers}

    def _content(self, response: http.client.HTTPResponse) -> bytes:
        packed = response.headers.get("Content-Encoding", "identity")
        if packed.lower() != "identity":
            raise ModelError(
                f"The endpoint {self.shown} compressed its answer ({_printable(packed)}), "
                "although no compression was requested. Turn it off in the server."
            )
        content = response.read(self.max_bytes + 1)
        if len(content) > self.max_bytes:
            raise ModelError(
                f"The endpoint {self.shown} sent more than {self.max_bytes:,} bytes. Ask about fewer rows at once "
                "(batch=), or raise max_bytes= if answers are meant to be this large."
            )
        if response.length:  # http.client reads what is there and says nothing about the rest
            raise ConnectionError("the answer broke off")
        return content

    def _json(self, found: bytes, what: str) -> Any:
        try:
            return json.loads(found, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise ModelError(
                f"The endpoint {self.shown} answered with something that is not JSON when asked {what} "
                f"({error}){_excerpt(found)}."
            ) from None


class _Deadline:
    """Cuts a connection off when its time is over, whatever it waits for then."""

    def __init__(self, sock: socket.socket, seconds: float) -> None:
        self._sock, self._over = sock, False
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def _cut(self) -> None:
        self._over = True
        with contextlib.suppress(OSError):  # closed by the other side in the same moment
            self._sock.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self._timer.cancel()
        if self._over or isinstance(error, TimeoutError):  # an answer that was cut off may look like a whole one
            raise TooLateError from error


def _refuse(word: str) -> Any:
    raise ValueError(f"it contains {word}, which is not JSON")


def _excerpt(content: bytes) -> str:
    text = _printable(content[: 4 * _EXCERPT].decode("utf-8", "replace").strip())
    return f": '{text[:_EXCERPT]}{'...' if len(text) > _EXCERPT else ''}'" if text else ""


def _printable(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in text)

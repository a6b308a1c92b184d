"""Models behind an address, asked through a real server on loopback: good answers, and every kind of bad one."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import isonomia.models._http as transport
from isonomia import Dataset, ModelError, SpecError, load_model
from isonomia.models import endpoint

pytestmark = pytest.mark.socket

NUMBERS = ["age", "income"]
Reply = tuple[int, Any]


class Server:
    """A server whose answers a test writes as a function of (method, path, content)."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, Any, dict[str, str]]] = []
        self.answer: Callable[[str, str, Any], Any] = lambda method, path, content: {}
        self.headers: dict[str, str] = {}
        self.over = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def respond(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                content = json.loads(self.rfile.read(length)) if length else None
                server.asked.append((self.command, self.path, content, dict(self.headers)))
                found = server.answer(self.command, self.path, content)
                status, body = found if isinstance(found, tuple) else (200, found)
                if status == 0:  # no answer: the connection is closed
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                raw = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {"Content-Length": str(len(raw)), **server.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(raw)

            do_GET = do_POST = respond  # noqa: N815

            def log_message(self, *args: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.handle_error = lambda *args: None  # type: ignore[method-assign]
        self.address = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.over.set()
    made.http.shutdown()
    made.http.server_close()


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    taken: list[float] = []
    monkeypatch.setattr(transport, "pause", taken.append)
    return taken


def loans(people: pd.DataFrame) -> Dataset:
    return Dataset(people, target="loan", positive="granted", features=[*NUMBERS, "job"])


def rows_of(content: Any) -> pd.DataFrame:
    return pd.DataFrame(content["instances"])


# plain JSON ----------------------------------------------------------------------------------------------------------


def test_probabilities_by_class_in_batches(people, server, as_frame):
    original = LogisticRegression().fit(people[NUMBERS], people["loan"])

    def answer(method: str, path: str, content: Any) -> Any:
        table = original.predict_proba(rows_of(content)[NUMBERS])
        return {"predictions": [dict(zip(original.classes_, row.tolist(), strict=True)) for row in table]}

    server.answer = answer
    model = endpoint(f"{server.address}/predict?key=secret", batch=100, headers={"Authorization": "Bearer secret"})
    data = Dataset(as_frame(people), target="loan", positive="granted", features=[*NUMBERS, "job"])
    surface = model.surface(data)
    place = list(original.classes_).index("granted")
    np.testing.assert_allclose(surface.probability, original.predict_proba(people[NUMBERS])[:, place], rtol=1e-12)
    assert [len(content["instances"]) for _, _, content, _ in server.asked] == [100, 100, 40]
    assert server.asked[0][2]["instances"][0] == people[[*NUMBERS, "job"]].iloc[0].to_dict()
    assert server.asked[0][1] == "/predict?key=secret"
    assert server.asked[0][3]["Authorization"] == "Bearer secret"
    assert model.n_calls == 3
    assert "secret" not in f"{model!r} {model.source} {model.make} {vars(model)}"
    assert model.format == "endpoint"


@pytest.mark.parametrize(
    ("target", "returned", "options"),
    [
        ("loan", lambda rows: np.where(rows["income"] > 3, "granted", "refused").tolist(), {}),
        ("loan", lambda rows: (1 / (1 + np.exp(3 - rows["income"]))).tolist(), {}),
        ("loan", lambda rows: (rows["income"] > 3).astype(int).tolist(), {"classes": ["refused", "granted"]}),
        ("band", lambda rows: [[0.2, 0.5, 0.3]] * len(rows), {}),
        ("band", lambda rows: ["low"] * len(rows), {}),
        ("limit", lambda rows: (rows["income"] * 10).tolist(), {}),
        ("limit", lambda rows: [[value] for value in rows["income"]], {}),
    ],
)
def test_every_kind_of_prediction(people, server, target, returned, options):
    """The bare list is read too, and one batch says the same as many."""
    server.answer = lambda method, path, content: returned(rows_of(content))
    positive = {"positive": "granted"} if target == "loan" else {}
    data = Dataset(people, target=target, features=NUMBERS, **positive)
    once = load_model(f"{server.address}/", **options).surface(data)
    often = endpoint(f"{server.address}/", batch=7, **options).surface(data)
    for kind in once.kinds:
        np.testing.assert_array_equal(getattr(once, kind), getattr(often, kind))
    assert once.kinds == often.kinds
    assert once.task == {"loan": "binary", "band": "multiclass", "limit": "regression"}[target]


def test_missing_values_and_dates_are_sent_as_json_has_them(server):
    frame = pd.DataFrame(
        {
            "x": [1.5, np.nan],
            "text": ["a", None],
            "day": pd.to_datetime(["2024-02-29", "2024-03-01"]),
            "yes": [True, False],
            "y": [1.0, 2.0],
        }
    )
    server.answer = lambda method, path, content: [0.5 for _ in content["instances"]]
    load_model(f"{server.address}/p").surface(Dataset(frame, target="y", task="regression"))
    first, second = server.asked[0][2]["instances"]
    assert first == {"x": 1.5, "text": "a", "day": "2024-02-29T00:00:00", "yes": True}
    assert (second["x"], second["text"]) == (None, None)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ([0.5], "asked about 240 rows and answered with 1 predictions"),
        ({"predictions": "none"}, "answered with a str"),
        ({"error": "x"}, "answered with 'error'; expected 'predictions'"),
        ({}, "answered with nothing"),
        ([None] * 240, "answered with null"),
        ([[0.5, None]] * 240, "answered with null"),
        ([[0.5], [0.5, 0.5]] * 120, "lists of different lengths"),
        ([1, "a"] * 120, "a mixture"),
        ([True, 2] * 120, "a mixture"),
        ([[[0.5]]] * 240, "a mixture"),
        ([{"a": 0.5}, {"b": 0.5}] * 120, "different classes in different rows"),
        ([10**30] * 240, "too large for a float"),
        (b"[" + b"NaN," * 239 + b"NaN]", "it contains NaN, which is not JSON"),
        (b"[" + b"1e999," * 239 + b"1]", "numbers that are infinite"),
        (b"<html>Sign in\x1b[31m</html>", "not JSON.*'<html>Sign in .31m</html>'"),
        (b"", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff\xfe", "not JSON"),
    ],
)
def test_bad_answers(people, server, returned, message):
    server.answer = lambda method, path, content: returned
    with pytest.raises(ModelError, match=message):
        load_model(f"{server.address}/p").surface(loans(people))


def test_probabilities_that_are_none(people, server):
    server.answer = lambda method, path, content: [1.5] * len(content["instances"])
    with pytest.raises(ModelError, match="not a probability"):
        endpoint(f"{server.address}/p", output="probability").surface(loans(people))


def test_batches_in_different_forms(people, server):
    server.answer = lambda method, path, content: ["a"] * 200 if len(content["instances"]) == 200 else [1] * 40
    with pytest.raises(ModelError, match="different kinds of answers for different batches"):
        endpoint(f"{server.address}/p", batch=200).surface(loans(people))


# when things go wrong ------------------------------------------------------------------------------------------------


def test_a_server_that_recovers_is_tried_again(people, server, pauses):
    troubles: list[Reply] = [(503, {"error": "starting"}), (0, None), (504, b""), (502, b"bad gateway")]

    def answer(method: str, path: str, content: Any) -> Any:
        return troubles.pop(0) if troubles else [0.5] * len(content["instances"])

    server.answer = answer
    surface = endpoint(f"{server.address}/p", retries=4).surface(loans(people))
    assert len(surface.probability) == 240
    assert len(server.asked) == 5
    assert pauses == [0.25, 0.5, 1.0, 2.0]


def test_the_number_of_tries_is_bounded(people, server, pauses):
    server.answer = lambda method, path, content: (503, {"error": "overloaded"})
    with pytest.raises(
        ModelError, match=r"answered 503 Service Unavailable when asked about 240 rows: .*overloaded.*4 tim"
    ):
        load_model(f"{server.address}/p").surface(loans(people))
    assert len(server.asked) == 4
    assert len(pauses) == 3


@pytest.mark.parametrize("status", [400, 401, 404, 422, 429, 500])
def test_other_failures_are_told_at_once(people, server, status):
    server.answer = lambda method, path, content: (status, {"detail": "x" * 5000})
    with pytest.raises(ModelError, match=f"answered {status} .* when asked about 240 rows: .*xxx") as caught:
        load_model(f"{server.address}/p").surface(loans(people))
    assert len(server.asked) == 1
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(people, server, status):
    server.headers = {"Location": f"{server.address}/other"}
    server.answer = lambda method, path, content: (status, b"")
    with pytest.raises(ModelError, match="Redirects are not followed"):
        load_model(f"{server.address}/p").surface(loans(people))
    assert len(server.asked) == 1


def test_nobody_there(people, pauses):
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    model = endpoint(f"http://127.0.0.1:{port}/p", retries=2)
    with pytest.raises(ModelError, match=r"could not be reached: ConnectionRefusedError.*tried 3 times"):
        model.surface(loans(people))
    assert pauses == [0.25, 0.5]


def test_a_server_that_never_answers(people, server):
    server.answer = lambda method, path, content: server.over.wait(60) and None
    with pytest.raises(ModelError, match=r"did not answer within 0.2 seconds when asked about 240 rows"):
        endpoint(f"{server.address}/p", timeout=0.2).surface(loans(people))
    assert len(server.asked) <= 1  # what takes too long is not asked for again


def test_a_server_that_dribbles(people):
    """Every byte comes in time; the whole never does."""
    over = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def dribble() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(1 << 16)
            while not over.wait(0.02):
                try:
                    connection.sendall(b"H")
                except OSError:
                    return

    threading.Thread(target=dribble, daemon=True).start()
    try:
        with pytest.raises(ModelError, match=r"did not answer within 0.3 seconds"):
            endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}/p", timeout=0.3).surface(loans(people))
    finally:
        over.set()
        listener.close()


@pytest.mark.parametrize("declared", [True, False])
def test_answers_of_any_size_are_not_read(people, server, declared):
    server.answer = lambda method, path, content: b"0" * 20_000
    if not declared:
        server.headers = {"Content-Length": "40000"}  # http.server sends the last one too; the length is wrong
    with pytest.raises(ModelError, match=r"more than 10,000 bytes|broke off"):
        endpoint(f"{server.address}/p", max_bytes=10_000, retries=0).surface(loans(people))


def test_an_answer_that_breaks_off(people, server):
    def answer(method: str, path: str, content: Any) -> Any:
        raise ConnectionResetError

    server.answer = answer
    with pytest.raises(ModelError, match="could not be reached"):
        endpoint(f"{server.address}/p", retries=0).surface(loans(people))


def test_a_packed_answer(people, server):
    server.headers = {"Content-Encoding": "gzip"}
    server.answer = lambda method, path, content: b"\x1f\x8b"
    with pytest.raises(ModelError, match="compressed its answer"):
        load_model(f"{server.address}/p").surface(loans(people))


@pytest.mark.parametrize(
    ("address", "options", "message"),
    [
        ("ftp://host/p", {}, "must begin with http"),
        ("http:///p", {}, "name a host"),
        ("http://user:word@host/p", {}, "must not contain a user or password"),
        ("http://host/p#x", {}, "after '#'"),
        ("http://host/p\r\nX: y", {}, "plain ASCII"),
        ("http://host:99999/p", {}, "is not an address"),
        ("http://host/p", {"protocol": "v3"}, "`protocol` must be one of"),
        ("http://host/p", {"batch": 0}, "`batch` must be"),
        ("http://host/p", {"retries": 11}, "at most 10"),
        ("http://host/p", {"timeout": float("inf")}, "`timeout` must be"),
        ("http://host/p", {"headers": {"X": "a\nb"}}, "`headers` must have"),
        ("http://host/p", {"headers": {"a b": "c"}}, "`headers` must have"),
        ("http://host/p", {"output_name": "x"}, "`output_name` is for"),
    ],
)
def test_bad_addresses_and_options(address, options, message):
    with pytest.raises(SpecError, match=message):
        endpoint(address, **options)


# the open inference protocol -----------------------------------------------------------------------------------------


def matrix_server(server: Server, predict: Callable[[np.ndarray[Any, Any]], Any], **output: Any) -> None:
    """One input of two columns, FP32."""

    def answer(method: str, path: str, content: Any) -> Any:
        if method == "GET":
            assert path == "/v2/models/loans"
            return {"name": "loans", "inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, 2]}]}
        assert path == "/v2/models/loans/infer"
        (tensor,) = content["inputs"]
        values = np.asarray(predict(np.array(tensor["data"]).reshape(tensor["shape"])))
        found = {"name": "y", "datatype": "FP64", "shape": list(values.shape), "data": values.ravel().tolist()}
        return {"model_name": "loans", "outputs": [{**found, **output}]}

    server.answer = answer


@pytest.mark.parametrize("tail", ["", "/", "/infer"])
def test_v2_two_classes(people, server, tail):
    original = LogisticRegression().fit(people[NUMBERS].to_numpy(), people["loan"])
    matrix_server(server, original.predict_proba)
    model = load_model(f"{server.address}/v2/models/loans{tail}", features=NUMBERS)
    surface = model.surface(Dataset(people[["income", "loan", "age"]], target="loan", positive="granted"))
    place = list(original.classes_).index("granted")
    np.testing.assert_allclose(surface.probability, original.predict_proba(people[NUMBERS].to_numpy())[:, place])
    with pytest.raises(ModelError, match="trained on 2 unnamed columns"):
        load_model(f"{server.address}/v2/models/loans").surface(loans(people))


def test_v2_several_classes_and_numbers(people, server):
    several = LogisticRegression(max_iter=1000).fit(people[NUMBERS].to_numpy(), people["band"])
    matrix_server(server, several.predict_proba)
    surface = load_model(f"{server.address}/v2/models/loans", features=NUMBERS).surface(Dataset(people, target="band"))
    np.testing.assert_allclose(surface.probability, several.predict_proba(people[NUMBERS].to_numpy()))
    numbers = LinearRegression().fit(people[NUMBERS].to_numpy(), people["limit"])
    matrix_server(server, numbers.predict)
    model = endpoint(f"{server.address}/v2/models/loans", features=NUMBERS, batch=50)
    surface = model.surface(Dataset(people, target="limit"))
    np.testing.assert_allclose(surface.continuous, numbers.predict(people[NUMBERS].to_numpy()))
    assert model.n_calls == 5


def test_v2_one_input_a_column_and_a_named_output(people, server):
    inputs = [("job", "BYTES", [-1, 1]), ("age", "INT64", [-1]), ("income", "FP64", [-1, 1])]

    def answer(method: str, path: str, content: Any) -> Any:
        if method == "GET":
            return {"inputs": [dict(zip(("name", "datatype", "shape"), item, strict=True)) for item in inputs]}
        found = {item["name"]: item for item in content["inputs"]}
        assert [(found[name]["datatype"], len(found[name]["shape"])) for name, _, _ in inputs] == [
            ("BYTES", 2),
            ("INT64", 1),
            ("FP64", 2),
        ]
        assert found["job"]["data"] == people["job"].tolist()
        assert found["age"]["data"] == people["age"].tolist()
        label = ["granted" if value > 3 else "refused" for value in found["income"]["data"]]
        score = {"name": "score", "datatype": "FP64", "shape": [len(label)], "data": [0.5] * len(label)}
        said = {"name": "label", "datatype": "BYTES", "shape": [len(label), 1], "data": label}
        return {"outputs": [score, said]}

    server.answer = answer
    address = f"{server.address}/v2/models/loans/versions/3"
    surface = endpoint(address, output_name="label").surface(loans(people))
    decided = [surface.classes[code] for code in surface.label]
    assert decided == np.where(people["income"] > 3, "granted", "refused").tolist()
    assert server.asked[0][1] == "/v2/models/loans/versions/3"
    assert server.asked[1][1] == "/v2/models/loans/versions/3/infer"
    assert server.asked[1][2]["outputs"] == [{"name": "label"}]
    with pytest.raises(ModelError, match=r"outputs 'score', 'label'. Name the one"):
        endpoint(address).surface(loans(people))


def test_v2_a_server_that_says_nothing_of_its_inputs(people, server):
    seen = []

    def answer(method: str, path: str, content: Any) -> Any:
        if method == "GET":
            return {"name": "loans"}
        seen.append(content["inputs"][0])
        return {"outputs": [{"name": "p", "shape": [240], "datatype": "FP64", "data": [[0.5]] * 240}]}

    server.answer = answer
    endpoint(f"{server.address}/v2/models/loans", features=NUMBERS).surface(Dataset(people, target="limit"))
    assert (seen[0]["name"], seen[0]["datatype"], seen[0]["shape"]) == ("input-0", "FP64", [240, 2])


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ({"shape": [3]}, r"asked about 240 rows and answered with a tensor of shape \[3\]"),
        ({"shape": [240, 2]}, r"240 values under the shape \[240, 2\]"),
        ({"shape": "x"}, "tensor of shape 'x'"),
        ({"data": None}, "answered with a tensor"),
        ({"data": [None] * 240}, "answered with null"),
    ],
)
def test_v2_bad_tensors(people, server, output, message):
    matrix_server(server, lambda rows: rows[:, 0], **output)
    with pytest.raises(ModelError, match=message):
        endpoint(f"{server.address}/v2/models/loans", features=NUMBERS).surface(Dataset(people, target="limit"))


def test_v2_what_cannot_be_sent(people, server):
    matrix_server(server, lambda rows: rows[:, 0])
    model = endpoint(f"{server.address}/v2/models/loans", features=NUMBERS)
    holes = people.assign(age=people["age"].where(people["age"] > 30))
    with pytest.raises(ModelError, match="takes numbers; some are missing"):
        model.surface(Dataset(holes, target="limit"))
    texts = endpoint(f"{server.address}/v2/models/loans", features=["age", "job"])
    with pytest.raises(ModelError, match="takes numbers, but 'job' contains texts"):
        texts.surface(Dataset(people, target="limit"))
    server.answer = lambda method, path, content: {"inputs": [{"name": "i", "datatype": "FP32", "shape": [-1, 3, 9]}]}
    with pytest.raises(ModelError, match="expects an input that rows of a table cannot fill"):
        endpoint(f"{server.address}/v2/models/loans")
    server.answer = lambda method, path, content: (404, {"error": "no such model 'loans'"})
    with pytest.raises(ModelError, match=r"answered 404 Not Found when asked about itself: .*no such model"):
        endpoint(f"{server.address}/v2/models/loans")


def test_files_are_not_fetched():
    with pytest.raises(ModelError, match="not fetched"):
        load_model("https://example.org/model.onnx?x=1")

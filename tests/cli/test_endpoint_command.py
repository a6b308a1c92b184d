"""A model behind an address, from the command line and from a spec; a real server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from isonomia.cli.app import app

pytestmark = pytest.mark.socket

runner = CliRunner()


class Lender(BaseHTTPRequestHandler):
    """Grants a loan to incomes above 3."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["instances"]
        said = ["granted" if row["income"] > 3 else "refused" for row in asked]
        body = json.dumps({"predictions": said}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Lender)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/predict"
    server.shutdown()
    server.server_close()


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 300), "income": rng.normal(3, 1, 300).round(3)})
    frame["loan"] = np.where(frame["income"] + rng.normal(0, 0.3, 300) > 3, "granted", "refused")
    frame.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


def test_audit_and_run_ask_the_same_server(address: str, table: Path) -> None:
    roles = ["--target", "loan", "--positive", "granted", "--protected", "sex", "--checks", "performance"]
    ended = runner.invoke(app, ["audit", str(table), "--model", address, *roles, "--json"])
    assert ended.exit_code == 0, ended.output
    audited = json.loads(ended.stdout)
    assert address in audited["subject"]["model"]
    spec = {
        "dataset": "people.csv",
        "target": "loan",
        "positive": "granted",
        "protected": ["sex"],
        "checks": ["performance"],
        "model": {"path": address, "endpoint": {"batch": 70, "headers": {"X-Key": "secret"}}},
    }
    (table.parent / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    ended = runner.invoke(app, ["run", str(table.parent / "spec.json"), "--trust-only", address, "--json"])
    assert ended.exit_code == 0, ended.output
    assert json.loads(ended.stdout)["checks"]["performance"] == audited["checks"]["performance"]
    assert "secret" not in ended.stdout


def test_a_server_that_is_not_there_is_bad_input(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isonomia.models._http.pause", lambda seconds: None)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Lender)
    gone = f"http://127.0.0.1:{server.server_port}/predict"
    server.server_close()
    ended = runner.invoke(app, ["audit", str(table), "--model", gone, "--target", "loan", "--positive", "granted"])
    assert ended.exit_code == 2
    assert "could not be reached" in ended.stderr

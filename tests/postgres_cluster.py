"""A temporary PostgreSQL server for tests: its own folder, a Unix socket, no network, gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from urllib.parse import quote

#: A role that needs a password; every other role of the cluster is trusted.
GUARDED, PASSWORD = "guarded", "correct:horse@battery/staple"
_ACCESS = f"local all {GUARDED} scram-sha-256\nlocal all all trust\n"
_numbers = count(1)


def find_programs() -> Path | None:
    """The folder with `initdb` and `pg_ctl`, the newest version first; None where no server is installed."""
    on_path = shutil.which("pg_ctl")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: -int(path.parent.name))
    found = [*folders, *([Path(on_path).resolve().parent] if on_path else [])]
    return next((folder for folder in found if (folder / "initdb").exists()), None)


@dataclass(frozen=True)
class PostgresCluster:
    """A running server. `url` gives an address; `database` makes an empty database; `crash` ends it as a power cut."""

    programs: Path
    folder: Path
    settings: tuple[str, ...] = ()

    @property
    def data(self) -> Path:
        """The folder of the server's files."""
        return self.folder / "data"

    def url(self, database: str = "postgres", *, user: str = "postgres", password: str | None = None) -> str:
        """The address of a database, as libpq, psycopg and SQLAlchemy read it."""
        secret = "" if password is None else f":{quote(password, safe='')}"
        return f"postgresql://{user}{secret}@/{database}?host={quote(str(self.folder), safe='')}"

    @contextmanager
    def database(self) -> Iterator[str]:
        """The address of a new, empty database, which is gone after the block."""
        name = f"test_{next(_numbers)}"
        self.execute(f"CREATE DATABASE {name}")
        yield self.url(name)
        self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def execute(self, statement: str, database: str = "postgres") -> str:
        """What `psql` answers to a statement."""
        command = ["psql", "-v", "ON_ERROR_STOP=1", "-qAt", "-h", str(self.folder), "-U", "postgres"]
        return self._run(*command, "-d", database, "-c", statement)

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}'"
        options += "".join(f" -c {setting}" for setting in self.settings)
        log = str(self.folder / "log")
        self._run("pg_ctl", "-s", "-w", "-t", "60", "-D", str(self.data), "-l", log, "-o", options, "start")

    def stop(self) -> None:
        """End the server; connections are closed."""
        self._run("pg_ctl", "-s", "-w", "-D", str(self.data), "-m", "fast", "stop")

    def crash(self) -> None:
        """End every process of the server at once, without a checkpoint: the next start has to recover."""
        self._run("pg_ctl", "-s", "-w", "-D", str(self.data), "-m", "immediate", "stop")

    def kill(self) -> None:
        """Kill the server's main process with signal 9."""
        process = int((self.data / "postmaster.pid").read_text().split()[0])
        os.kill(process, signal.SIGKILL)

    def _run(self, program: str, *arguments: str) -> str:
        done = subprocess.run(
            [str(self.programs / program), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            cwd=self.folder,
            env={**os.environ, "LC_ALL": "C", "TZ": "UTC"},
            user=_owner(),
        )
        if done.returncode != 0:
            log = self.folder / "log"
            more = log.read_text(errors="replace")[-2000:] if log.exists() else ""
            raise RuntimeError(f"{program} {' '.join(arguments)}: {done.stderr}{more}")
        return done.stdout.strip()


def _owner() -> str | None:
    """The user who runs the server, which refuses to run as root."""
    return "postgres" if os.geteuid() == 0 else None


@contextmanager
def postgres_cluster(*, fsync: bool = False) -> Iterator[PostgresCluster]:
    """A server that is started for the block, and removed after it.

    Parameters
    ----------
    fsync : bool
        Whether a commit waits for the disk, as on a real server. Only a power cut shows the difference.
    """
    programs = find_programs()
    if programs is None:
        raise RuntimeError("No PostgreSQL server is installed; run .ci/postgres, or leave out the tests `postgres`.")
    with tempfile.TemporaryDirectory(prefix="iso-pg-", dir="/tmp") as name:  # the path of a socket has to be short
        folder = Path(name)
        owner = _owner()
        if owner is not None:
            os.chown(folder, pwd.getpwnam(owner).pw_uid, -1)
        folder.chmod(0o755)  # the tests' own user connects to the socket
        cluster = PostgresCluster(programs, folder, () if fsync else ("fsync=off",))
        cluster._run("initdb", "-D", str(cluster.data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        (cluster.data / "pg_hba.conf").write_text(_ACCESS)
        cluster.start()
        try:
            cluster.execute(f"CREATE ROLE {GUARDED} LOGIN PASSWORD '{PASSWORD}'")
            yield cluster
        finally:
            if (cluster.data / "postmaster.pid").exists():
                cluster.crash()

"""What a process uses: memory of this one at its peak, memory and processor time of another one now."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

_MB = 1024 * 1024


def reset_peak() -> None:
    """Start a new peak, where the operating system can (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return  # the peak is that of the whole process then


def peak_mb() -> float | None:
    """The largest resident memory of this process since `reset_peak`; None where nobody says (Windows)."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = [line for line in status.read_text().splitlines() if line.startswith("VmHWM:")]
        return float(lines[0].split()[1]) / 1024
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / _MB if sys.platform == "darwin" else peak / 1024


def resident_mb(pid: int) -> float:
    """The resident memory of a process; 0 where it has ended."""
    statm = Path(f"/proc/{pid}/statm")
    if Path("/proc/self/statm").exists():
        try:
            import resource

            return int(statm.read_text().split()[1]) * resource.getpagesize() / _MB
        except OSError:
            return 0.0
    return float(_shown("rss", pid) or 0) / 1024


def cpu_seconds(pid: int) -> float:
    """The processor time of a process so far; 0 where it has ended."""
    if Path("/proc/self/stat").exists():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    parts = [float(part) for part in re.split("[:-]", _shown("time", pid)) if part]
    return sum(part * unit for part, unit in zip(reversed(parts), (1, 60, 3600, 86_400), strict=False))


def _shown(field: str, pid: int) -> str:
    done = subprocess.run(["ps", "-o", f"{field}=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return done.stdout.strip()

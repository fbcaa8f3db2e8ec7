"""Runs the parser in a process of its own. Its death, of whatever cause, is an answer and not a mishap."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from apps.intake.parsing import limits
from apps.intake.parsing.quote import Request, refused

_ROOT = Path(__file__).resolve().parents[3]
COMMAND = [sys.executable, "-m", "apps.intake.parsing.child"]
# No secret of this process reaches the child: it gets an environment of its own.
ENVIRONMENT = {"PYTHONPATH": str(_ROOT), "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}


def parse_in_child(request: Request, *, wall_s: float = limits.WALL_S) -> dict[str, Any]:
    """Return the result document of a file, whatever the file does to its parser."""
    if len(request.content) > limits.FILE_BYTES:  # spares the pipe what would be refused anyway
        return refused(
            request.kind,
            f"The file's size is {limits.megabytes(len(request.content))}; "
            f"the size limit is {limits.megabytes(limits.FILE_BYTES)}.",
        )
    header = {
        "kind": request.kind,
        "answers": request.answers,
        "corrections": request.corrections,
        "mapping": request.mapping,
        "bytes": len(request.content),
    }
    started = time.monotonic()
    try:
        done = subprocess.run(  # noqa: S603 - our own module, no shell
            COMMAND,
            input=json.dumps(header).encode() + b"\n" + request.content,
            capture_output=True,
            timeout=wall_s,
            env=ENVIRONMENT,
            cwd=_ROOT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return refused(
            request.kind,
            f"The file could not be read: it took longer than {wall_s:g} s, which is the limit.",
            seconds=time.monotonic() - started,
        )
    try:
        if done.returncode == 0:
            return json.loads(done.stdout)
    except ValueError:
        pass
    return refused(request.kind, _death(done.returncode, done.stderr), seconds=time.monotonic() - started)


def _death(code: int, stderr: bytes) -> str:
    """Why the child died, in words; its trace is not shown, for it may hold text of the file."""
    if code in {-9, -24}:
        why = f"it took longer than {limits.CPU_S} s of computing or more memory than allowed"
    elif b"MemoryError" in stderr or b"memory" in stderr[-300:]:
        why = f"it needs more memory than the limit of {limits.megabytes(limits.MEMORY_BYTES)}"
    elif code < 0:
        why = "reading it ended the reader"
    else:
        why = "its content is damaged or of a form that is not known"
    return f"The file could not be read: {why}. Check the file, or copy its values into the template."

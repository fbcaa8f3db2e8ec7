"""The child process: limits first, then one request from standard input, one result to standard output.

Input is a line of JSON, {"kind", "answers", "corrections", "mapping", "bytes"}, then the file itself.
"""

import ctypes
import json
import os
import resource
import socket
import sys
import time

from apps.intake.parsing import limits

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000


def confine() -> None:
    """Bound memory, time and files, and cut the network off. From here on nothing can be undone."""
    for kind, amount in (
        (resource.RLIMIT_AS, limits.MEMORY_BYTES),
        (resource.RLIMIT_CPU, limits.CPU_S),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, limits.OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        _lower(kind, amount)
    _cut_network()


def _lower(kind: int, amount: int) -> None:
    _, hard = resource.getrlimit(kind)
    bound = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
    resource.setrlimit(kind, (bound, bound))


def _cut_network() -> None:
    """A network namespace of its own has no way out; where the system grants none, sockets are switched off."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(_CLONE_NEWNET) != 0:
            libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
    except (OSError, AttributeError):
        pass  # not Linux

    def refused(*_: object, **__: object) -> None:
        raise OSError("The import has no network.")

    socket.socket = refused  # type: ignore[misc,assignment]
    socket.create_connection = refused  # type: ignore[assignment]


def peak_rss_mb() -> int:
    """The most memory this process has held. `ru_maxrss` would count what the parent held before it became this one."""
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak // (1024**2 if sys.platform == "darwin" else 1024)


def main() -> None:
    started = time.monotonic()
    confine()
    from apps.intake.parsing.quote import Request, parse

    request = json.loads(sys.stdin.buffer.readline())
    content = sys.stdin.buffer.read(int(request["bytes"]))
    result = parse(
        Request(
            content,
            request.get("kind", ""),
            request.get("answers", {}),
            request.get("corrections", {}),
            request.get("mapping", {}),
        )
    )
    result["seconds"] = round(time.monotonic() - started, 3)
    result["peak_rss_mb"] = peak_rss_mb()
    sys.stdout.write(json.dumps(result, allow_nan=False))
    sys.stdout.flush()
    os._exit(0)  # nothing is left to tidy up, and a large result would take long to free


if __name__ == "__main__":
    main()

"""What has to be true of an installation before a process may serve or compute."""

from pathlib import Path

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

# File systems on which SQLite's locks or its shared memory do not hold.
NETWORK_FILE_SYSTEMS = frozenset(
    {
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "fuse.ceph",
        "fuse.glusterfs",
        "fuse.sshfs",
        "gfs2",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "smb3",
        "smbfs",
    }
)
MOUNTS = Path("/proc/self/mountinfo")


def refuse_unsafe_start() -> None:
    """Return quietly, or raise `ImproperlyConfigured` with the reason and the remedy."""
    database = settings.DATABASES["default"]
    if database["ENGINE"].endswith("sqlite3"):
        check_sqlite(str(database["NAME"]))


def check_sqlite(name: str) -> None:
    """Raise unless the database file is on a local disk and in WAL mode."""
    kind = file_system_of(Path(name))
    if kind in NETWORK_FILE_SYSTEMS:
        raise ImproperlyConfigured(
            f"The SQLite database {name} lies on a network file system ({kind}), where its locks do not hold. "
            "Set SPINECUT_VAR_DIR or DATABASE_URL to a local disk, or use PostgreSQL."
        )
    mode = journal_mode()
    if mode != "wal":
        raise ImproperlyConfigured(
            f"The SQLite database {name} is in journal mode {mode!r}; it must be 'wal'. "
            "The folder must be writable and on a local disk."
        )


def journal_mode() -> str:
    """Return the journal mode of the default database, as SQLite itself names it."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("PRAGMA journal_mode")
        mode = str(cursor.fetchone()[0])
    connection.close()  # a process that forks afterwards must not share it
    return mode


def file_system_of(path: Path, mounts: Path = MOUNTS) -> str:
    """Return the kind of file system that `path` lies on ("ext4"), or "" where the system does not tell."""
    try:
        lines = mounts.read_text().splitlines()
    except OSError:
        return ""
    best, kind = "", ""
    target = str(path.resolve())
    for line in lines:
        before, _, after = line.partition(" - ")
        mount = before.split()[4].replace("\\040", " ")
        inside = target == mount or target.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best):
            best, kind = mount, after.split()[0]
    return kind

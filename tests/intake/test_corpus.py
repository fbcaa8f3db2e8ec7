"""Every file of the corpora gets the outcome, the messages and the values that its manifest asks for."""

from pathlib import Path

import pytest

from tests.intake import manifest
from tests.intake.generate import write_corpus

GIVEN = manifest.given_corpus()


def test_every_generated_upload_is_answered_as_its_manifest_says(tmp_path: Path) -> None:
    write_corpus(tmp_path)
    found = {row["file"]: manifest.problems(tmp_path, row) for row in manifest.rows(tmp_path)}

    assert {name: problems for name, problems in found.items() if problems} == {}
    assert len(found) > 70


@pytest.mark.skipif(GIVEN is None, reason="no corpus of broken uploads beside the repository")
@pytest.mark.parametrize("row", manifest.rows(GIVEN) if GIVEN else [], ids=lambda row: row["file"])
def test_every_given_upload_is_answered_as_its_manifest_says(row: dict[str, str]) -> None:
    assert GIVEN is not None
    assert manifest.problems(GIVEN, row) == []

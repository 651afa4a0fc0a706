"""A published folder that several files look at."""

import pytest

from karat.judging import publish
from tests.judging.publication.published import CAPTION, IMAGE, small_evidence


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The evidence and a folder published from it, with a caption and an image marked invalid."""
    evidence = small_evidence(marked={"caption": {CAPTION: "no image"}, "image": {IMAGE: "a copy"}})
    return evidence, publish(evidence, tmp_path_factory.mktemp("publish") / "out")

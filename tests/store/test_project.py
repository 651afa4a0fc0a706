"""A project is composed of parts."""

from karat.store import Project

PARTS = ("pools", "queue", "answers", "reviews", "annotators", "accounts", "calls", "journal")


def test_a_project_inherits_nothing(on_file):
    assert Project.__bases__ == (object,)
    for name in PARTS:
        assert name in vars(on_file)

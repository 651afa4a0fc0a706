"""Finding captions and images that may be invalid, and marking them from a file."""

import numpy as np
import pytest

from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Truth
from karat.errors import InputError
from karat.forms import GOLD_YES, load_form, make_answers
from karat.judging.publication.validity import invalid_candidates, mark, read_marks

ASKED = {"i2t": np.arange(3), "t2i": np.arange(6)}
OWN = Truth("own", Judgments([0, 0, 1, 1, 2, 2], range(6), sources=[Provenance("own")]), ASKED)
FORM = load_form("pair")


def listed(rows, sets=(), gold=None, **options):
    image, caption, rating = np.array(rows, dtype=int).reshape(-1, 3).T
    annotator = np.arange(len(image))
    names = tuple(f"w{k}" for k in annotator)
    said = make_answers(image, caption, annotator, rating, names, gold=gold)
    return {(one.kind, one.index) for one in invalid_candidates(OWN, said, FORM, sets, **options)}


def test_the_lowest_answer_to_the_own_image():
    assert listed([(0, 0, 1), (0, 0, 1)]) == {("caption", 0), ("image", 0)}
    assert listed([(0, 0, 1), (0, 1, 4), (0, 1, 4), (0, 1, 4)]) == {("caption", 0)}
    # "Mostly no" is not the lowest answer, and one of three is not half.
    assert listed([(0, 0, 2)]) == set()
    assert listed([(0, 0, 1), (0, 0, 4), (0, 0, 4)]) == set()
    assert listed([(0, 0, 1), (0, 0, 4), (0, 0, 4)], share=0.3) == {("caption", 0), ("image", 0)}
    # Gold counts: it is where original pairs are judged most often.
    assert listed([(0, 0, 1)], gold=np.array([GOLD_YES])) == {("caption", 0), ("image", 0)}


def test_another_judged_set_says_no():
    no = Truth("cxc", Judgments([0], [0], rating=[0], sources=[Provenance("cxc")]), ASKED)
    assert listed([], [no]) == {("caption", 0), ("image", 0)}
    half = Truth("cxc", Judgments([0, 0], [0, 1], rating=[0, 1], sources=[Provenance("cxc")]), ASKED)
    assert listed([], [half]) == {("caption", 0)}


def test_a_caption_that_fits_nothing():
    assert listed([(0, 4, 2), (1, 4, 2), (2, 4, 2)]) == {("caption", 4)}
    assert listed([(0, 4, 2), (1, 4, 2)]) == set()
    assert listed([(0, 4, 2), (1, 4, 2), (2, 4, 3)]) == set()


def test_the_worst_comes_first():
    image, caption = np.array([0, 0, 0, 1]), np.array([0, 0, 0, 2])
    said = make_answers(image, caption, np.arange(4), np.ones(4), ("a", "b", "c", "d"))
    found = invalid_candidates(OWN, said, FORM)
    assert [(one.kind, one.index) for one in found[:2]] == [("caption", 0), ("image", 0)]
    assert found[0].why == "3 of 3 answers to its original pairs are the lowest"


class FakeProject:
    def __init__(self):
        self.marks = {"image": {}, "caption": {3: "old"}}
        self.reviews = self

    def benchmark(self):
        return Benchmark(
            "b", Ids(["a", "b", "c"], kind="image"), Ids(range(10, 16), kind="caption"), {"own": OWN}
        )

    def invalid(self):
        return {kind: dict(items) for kind, items in self.marks.items()}

    def mark_invalid(self, kind, index, why, by):
        self.marks[kind][index] = f"{why} ({by})"

    def mark_valid(self, kind, index, why, by):
        del self.marks[kind][index]


def test_a_file_decides(tmp_path):
    project, path = FakeProject(), tmp_path / "invalid.csv"
    path.write_text(
        "kind,id,status,why,text\ncaption,12,remove,bad,x\ncaption,13,keep,,\nimage,b,removed,,\nimage,c,candidate,,\n"
    )
    assert mark(project, path, "me") == 3
    assert project.marks == {"image": {1: "by a list (me)"}, "caption": {2: "bad (me)"}}
    assert mark(project, path, "me") == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind,id\ncaption,12\n", "no column 'status'"),
        ("kind,id,status\ncaption,12,remove\npage,1,remove\n", "row 3: the kind is 'page'"),
        (
            "kind,id,status\ncaption,12,remove\ncaption,99,remove\n",
            "row 3: caption id 99 is not in the benchmark",
        ),
        ("kind,id,status\ncaption,12,delete\n", "the status is 'delete'"),
        ("kind,id,status\ncaption,12,remove\ncaption,12,keep\n", "'12' is a duplicate"),
        ("", "is not a csv file"),
    ],
)
def test_a_wrong_file_changes_nothing(tmp_path, text, message):
    project, path = FakeProject(), tmp_path / "invalid.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        mark(project, path, "me")
    assert project.marks == FakeProject().marks
    with pytest.raises(InputError, match="no such file"):
        read_marks(tmp_path / "none.csv", project.benchmark())

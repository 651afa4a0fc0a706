"""Lines of json: those that are refused, with the line, and the two names of the annotator."""

import pytest

from judging.exchange.projects import make_project, table_of
from karat.judging.exchange import import_answers

LINE = '{"task": 0, "item": 1, "worker": "ann", "answer": "yes"}\n'
LINES = {
    "cut off": (LINE + '{"task": 0, "item"', "line 2: is not json"),
    "deep": (LINE + "[" * 100_000 + "\n", "line 2: is nested too deeply"),
    "deep object": (LINE + '{"a":' * 50_000 + "1" + "}" * 50_000, "line 2: is nested too deeply"),
    "two objects": (LINE + LINE.strip() + LINE, "line 2: has more after its object"),
    "lines that close each other": ('{"details": [{}\n{}]},' + LINE, "line 1: details is [{}, {}]"),
    "texts that close each other": (
        '{"worker": "x}\n{y"}\n' + LINE.strip() + "," + LINE,
        "line 1: is not json",
    ),
    "duplicate name": (LINE + '{"task": 0, "task": 1}', "line 2: has a duplicate name"),
    "nan": (LINE + '{"seconds": NaN}', "line 2: contains NaN"),
    "long number": (LINE + '{"task": ' + "9" * 5000 + "}", "line 2: has a number that is too long"),
    "list": (LINE + "[1]", "line 2: is [1], not an object"),
    "unknown name": (LINE + '{"gold": 1}', "line 2: there is an unknown name 'gold'"),
    "worker is a number": (LINE.replace('"ann"', "5"), "line 1: worker is 5"),
    "annotator is a number": (
        LINE.replace('"worker": "ann"', '"annotator": 5'),
        "line 1: annotator is 5",
    ),
    "no annotator": (LINE.replace('"worker": "ann", ', ""), "line 1: worker is None"),
    "both names of the annotator": (
        LINE + LINE.replace("{", '{"annotator": "ann", ').replace("1,", "2,"),
        "line 2: the names 'worker' and 'annotator' mean the same",
    ),
    "task is a list": (LINE.replace("0,", "[],"), "line 1: task is []"),
    "task is true": (LINE.replace("0,", "true,"), "line 1: task is True"),
    "seconds is text": (LINE.replace("{", '{"seconds": "1", '), "line 1: seconds is '1'"),
    "negative": (LINE + LINE.replace("{", '{"seconds": -1, '), "line 2: seconds is -1"),
    "huge number": (LINE.replace("{", '{"seconds": 1e999, '), "line 1: seconds is inf"),
    "details is a text": (LINE.replace("{", '{"details": "x", '), "line 1: details is 'x'"),
    "details is nested": (LINE.replace("{", '{"details": {"why": [["x"]]}, '), "line 1: details is"),
    "unknown question": (
        LINE.replace("{", '{"details": {"who": ["x"]}, '),
        "line 1: form odd has no follow-up",
    ),
    "unpaired surrogate": (LINE.replace("ann", r"a\ud800"), "line 1: worker is"),
    "escaped nul": (
        LINE.replace("{", r'{"details": {"why": "\u0000"}, '),
        "line 1: why contains a zero byte",
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_json_lines(refused, name):
    data, said = LINES[name]
    assert refused(data, "answers.jsonl", "jsonl").startswith(said)


def test_the_annotator_may_have_either_name(tmp_path):
    """`worker` is what karat writes; `annotator` is read the same, also where lines differ."""
    second = LINE.replace("1,", "2,").replace("ann", "=ben")
    texts = (LINE + second, LINE + second.replace('"worker"', '"annotator"'))
    texts += (texts[0].replace('"worker"', '"annotator"'),)
    tables = []
    for number, text in enumerate(texts):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(text)
        with make_project(tmp_path, f"{number}.db") as made:
            assert import_answers(made, path).annotators == 2
            tables.append([(*row[:8], *row[9:]) for row in table_of(made)])
    assert tables[0] == tables[1] == tables[2]

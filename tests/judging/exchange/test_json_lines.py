"""Lines of json that are refused, with the line."""

import pytest

LINE = '{"task": 0, "item": 1, "worker": "ann", "answer": "yes"}\n'
LINES = {
    "cut off": (LINE + '{"task": 0, "item"', "line 2: is no json"),
    "deep": (LINE + "[" * 100_000 + "\n", "line 2: is nested too deeply"),
    "deep object": (LINE + '{"a":' * 50_000 + "1" + "}" * 50_000, "line 2: is nested too deeply"),
    "two objects": (LINE + LINE.strip() + LINE, "line 2: has more after its object"),
    "lines that close each other": ('{"details": [{}\n{}]},' + LINE, "line 1: details is [{}, {}]"),
    "texts that close each other": (
        '{"worker": "x}\n{y"}\n' + LINE.strip() + "," + LINE,
        "line 1: is no json",
    ),
    "name twice": (LINE + '{"task": 0, "task": 1}', "line 2: has a name twice"),
    "nan": (LINE + '{"seconds": NaN}', "line 2: holds NaN"),
    "long number": (LINE + '{"task": ' + "9" * 5000 + "}", "line 2: has a number that is too long"),
    "list": (LINE + "[1]", "line 2: is [1], not an object"),
    "unknown name": (LINE + '{"gold": 1}', "line 2: there is a name 'gold'"),
    "worker is a number": (LINE.replace('"ann"', "5"), "line 1: worker is 5"),
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
    "half a character": (LINE.replace("ann", r"a\ud800"), "line 1: worker is"),
    "escaped nul": (LINE.replace("{", r'{"details": {"why": "\u0000"}, '), "line 1: why holds a zero byte"),
}


@pytest.mark.parametrize("name", LINES)
def test_json_lines(refused, name):
    data, said = LINES[name]
    assert refused(data, "answers.jsonl", "jsonl").startswith(said)

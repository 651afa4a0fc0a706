"""Settings of a chat endpoint, and what its responses mean."""

import json

import pytest

from karat.errors import InputError, MissingDataError
from karat.judging.machine_judges import read_endpoint
from karat.judging.machine_judges.endpoint import parse_body

from .stand_in import reply

KEY = "sk-very-secret"


def test_content_in_parts_is_joined():
    found = parse_body(200, json.dumps(reply([{"type": "text", "text": "yes"}])))
    assert found.text == "yes"


def test_the_key_comes_from_the_environment_only(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.delenv("KARAT_JUDGE_KEY", raising=False)
    file = tmp_path / "judge.toml"
    file.write_text('url = "http://h/v1"\nmodel = "m"\nkey_env = "MY_KEY"\ntimeout = 3\n')
    assert read_endpoint(file).key == KEY
    assert read_endpoint(file, model="other").model == "other"
    assert read_endpoint(file, timeout=9.0).timeout == 9
    file.write_text('url = "http://h/v1"\nmodel = "m"\nkey = "sk"\n')
    with pytest.raises(InputError, match="contains a key"):
        read_endpoint(file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("url = 3", "begin with http|not given|wrong type"),
        ('model = "m"', "url is not given"),
        ('url = "http://h"', "model is not given"),
        ('url = "ftp://h"\nmodel = "m"', "begin with http"),
        ('url = "http://me:pw@h"\nmodel = "m"', "password"),
        ('url = "http://h"\nmodel = "m"\nspeed = 3', "unknown field 'speed'"),
        ('url = "http://h"\nmodel = "m"\ntries = 0', "tries is 0"),
        ('url = "http://h"\nmodel = "m"\ntries = "x"', "wrong type"),
        ("= nothing", "not TOML"),
    ],
)
def test_wrong_settings_are_named(text, message, tmp_path):
    file = tmp_path / "judge.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        read_endpoint(file)
    with pytest.raises(MissingDataError, match="no such file"):
        read_endpoint(tmp_path / "none.toml")

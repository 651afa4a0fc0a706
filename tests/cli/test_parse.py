"""``karat captions parse`` as a user meets it."""

import json
import os
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from karat.cli.captions.parse import parse


@pytest.fixture
def run():
    """Call the command itself, and return what it printed."""
    alone = typer.Typer()
    alone.command()(parse)

    def call(*arguments):
        return CliRunner().invoke(alone, [str(argument) for argument in arguments])

    return call


def test_captions(run):
    out = run("a man riding a brown horse", "...").stdout
    assert out == (
        "a man riding a brown horse\n"
        "  objects     man, horse\n"
        "  attributes  horse is brown\n"
        "  relations   man – ride – horse\n"
        "\n...\n"
        "  objects     none\n"
    )


def test_file_and_json(run, tmp_path):
    (tmp_path / "captions.txt").write_text("a red bus\n\n two dogs \n", encoding="utf-8")
    found = run("a cat", "--file", tmp_path / "captions.txt", "--json", tmp_path / "out.json")
    assert found.exit_code == 0
    records = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert [record["caption"] for record in records] == ["a cat", "a red bus", "two dogs"]
    assert records[1] == {
        "caption": "a red bus", "objects": ["bus"], "attributes": [["bus", "red"]], "relations": [],
    }  # fmt: skip


def test_listing_in_the_notation_of_the_original_tool(run):
    options = ("--listing", "--convention", "java")
    assert run("a man riding a horse", *options).stdout == "a man riding a horse\t( man ) , ( horse )\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no caption; give one in quotes"),
        (("--file", "none.txt"), "none.txt: there is no such file"),
        (("a dog", "--convention", "x"), "convention is 'x'; choose one of full, java"),
        (("a dog", "--json", "no/such/out.json"), "there is no folder no/such"),
    ],
)
def test_wrong_input_is_explained(run, arguments, message):
    assert message in str(run(*arguments).exception)


def test_files_that_are_no_text(run, tmp_path):
    (tmp_path / "a.bin").write_bytes(b"\0\1\2")
    (tmp_path / "latin.txt").write_bytes("café".encode("latin-1"))
    assert "is not text" in str(run("--file", tmp_path / "a.bin").exception)
    assert "is not UTF-8" in str(run("--file", tmp_path / "latin.txt").exception)


def test_json_of_bytes_that_are_no_text(run, tmp_path):
    run("a \udcff dog", "--json", tmp_path / "out.json")
    (record,) = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert record["caption"] == "a \udcff dog"


def test_a_caption_of_two_lines_is_one_of_a_listing(run):
    assert run("a dog\nnear a\tcat", "--listing").stdout == "a dog near a cat\t( dog , near , cat )\n"


def test_is_a_command_of_karat(command):
    assert "man – ride – horse" in command("captions", "parse", "a man riding a horse")


@pytest.mark.parametrize(
    ("text", "shown"), [("a dog in a café", "café"), (b"a \xff dog".decode(errors="surrogateescape"), "dog")]
)
def test_a_terminal_that_cannot_show_everything(text, shown):
    """Whatever the encoding of the screen, a caption never ends in a stack trace."""
    asked = [sys.executable, "-m", "karat", "captions", "parse", text]
    done = subprocess.run(asked, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert shown.encode("ascii", "backslashreplace") in done.stdout

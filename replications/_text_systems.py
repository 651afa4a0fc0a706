"""Systems that see an image through its captions: bags of words, caption metrics, a sentence model, a fusion.

A caption is never compared with itself: where it was written for the image, the image's other captions stand
for it. All but the fusion are caption metrics, so that one pair, a list of pairs and a whole table come from
the same numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np

import karat
from karat.benchmarks import Benchmark, Direction, Ids, Judgments, Provenance, Truth
from karat.captions.metric import CAPTION_METRICS, CaptionMetric, Prepared, References
from karat.captions.similarity import own_references, references_of
from karat.captions.tokens import tokenise
from karat.models.text.bag_of_words import BagOfWords
from karat.runs import MatrixRun, Run

Embed = Callable[[Sequence[str]], np.ndarray]
PAIRS = 256
"""How many pairs are compared at a time: a bag of words knows tables only."""
SENTENCE_MODEL = "all-MiniLM-L6-v2"


class BagMetric(CaptionMetric):
    """The cosine of word counts, weighted by √idf: the image is all of its captions as one text."""

    name = "bow"

    def prepare(self, references: References, candidates: Sequence[str]) -> Prepared:
        """Count the words."""
        return PreparedBags(references, candidates)


class PreparedBags(Prepared):
    """The words of images and captions."""

    def __init__(self, references: References, candidates: Sequence[str]) -> None:
        self.images = [[tokenise(text) for text in own] or [()] for own in references]
        self.captions = [[tokenise(text)] for text in candidates]
        self.n_images, self.n_captions = len(self.images), len(self.captions)
        self.kernel = BagOfWords(weight="sqrt_idf").fit(self.images)

    def block(self, begin: int, end: int, threads: int | None = None) -> np.ndarray:
        """Return the cosines of some images with every caption."""
        return self.kernel.kernel(self.images[begin:end], self.captions, threads=threads).astype(np.float32)

    def at(self, image: np.ndarray, caption: np.ndarray, leave_out: np.ndarray | None = None) -> np.ndarray:
        """Return the cosines of pairs."""
        image, caption, left = self.check_pairs(image, caption, leave_out)
        out = np.empty(len(image))
        for begin in range(0, len(image), PAIRS):
            part = slice(begin, begin + PAIRS)
            documents = [
                [words for k, words in enumerate(self.images[i]) if k != without] or [()]
                for i, without in zip(image[part].tolist(), left[part].tolist())
            ]
            asked = [self.captions[c] for c in caption[part].tolist()]
            out[part] = self.kernel.kernel(documents, asked).diagonal()
        return out


class SentenceMetric(CaptionMetric):
    """The cosine of a caption's embedding and the mean of those of the image's captions.

    Parameters
    ----------
    embed
        Returns one row per text.
    """

    name = "sentence"

    def __init__(self, embed: Embed) -> None:
        self.embed = embed

    def prepare(self, references: References, candidates: Sequence[str]) -> Prepared:
        """Embed all texts, each once."""
        return PreparedSentences(self.embed, references, candidates)


class PreparedSentences(Prepared):
    """The embeddings of images' captions and of captions."""

    def __init__(self, embed: Embed, references: References, candidates: Sequence[str]) -> None:
        texts = list(dict.fromkeys([*(text for own in references for text in own), *candidates]))
        number = {text: k for k, text in enumerate(texts)}
        self.rows = unit(np.asarray(embed(texts), dtype=np.float64))
        self.own = [[number[text] for text in own] for own in references]
        self.asked = np.array([number[text] for text in candidates], dtype=np.int64)
        self.n_images, self.n_captions = len(self.own), len(self.asked)
        self.sums = np.array([self.rows[own].sum(axis=0) for own in self.own])

    def block(self, begin: int, end: int, threads: int | None = None) -> np.ndarray:
        """Return the cosines of some images with every caption."""
        return (unit(self.sums[begin:end]) @ self.rows[self.asked].T).astype(np.float32)

    def at(self, image: np.ndarray, caption: np.ndarray, leave_out: np.ndarray | None = None) -> np.ndarray:
        """Return the cosines of pairs."""
        image, caption, left = self.check_pairs(image, caption, leave_out)
        sums = self.sums[image].copy()
        for k in np.flatnonzero(left >= 0).tolist():
            sums[k] -= self.rows[self.own[image[k]][left[k]]]
        return np.einsum("ij,ij->i", unit(sums), self.rows[self.asked[caption]])


def unit(rows: np.ndarray) -> np.ndarray:
    """Return rows of length 1; what has no length stays 0."""
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows / np.where(length > 1e-9, length, 1.0)


@lru_cache(maxsize=1)
def sentence_model() -> Embed | None:
    """Return the sentence model that is on this machine, None where there is none; nothing is downloaded."""
    try:
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(SENTENCE_MODEL, local_files_only=True)
    except (ImportError, OSError):
        return None
    return lambda texts: model.encode(list(texts), batch_size=256)


def text_metrics() -> tuple[dict[str, CaptionMetric], str]:
    """Return the systems that can run here, and what a reader should know of them."""
    metrics: dict[str, CaptionMetric] = {"bow": BagMetric()}
    metrics |= {name: CAPTION_METRICS[name] for name in ("cider", "spice")}
    embed = sentence_model()
    if embed is not None:
        return {**metrics, "sentence": SentenceMetric(embed)}, ""
    metrics["rouge-l"] = CAPTION_METRICS["rouge-l"]
    return metrics, f"ROUGE-L in place of a sentence model: {SENTENCE_MODEL} is not installed"


def query_table(
    bench: Benchmark, metric: CaptionMetric, direction: Direction, queries: np.ndarray
) -> np.ndarray:
    """Return φ of some queries with the whole gallery, images by captions, without comparing with itself.

    Document frequencies come from all images, whichever are asked about.
    """
    references, texts = references_of(bench), bench.needed_texts
    owner, number = own_references(bench, np.arange(bench.captions.size))
    if direction == "t2i":
        return metric.matrix(
            references, [texts[k] for k in queries.tolist()], own=(owner[queries], number[queries])
        )
    order = np.r_[queries, np.setdiff1d(np.arange(bench.images.size), queries)]
    place = np.argsort(order)
    prepared = metric.prepare([references[k] for k in order.tolist()], texts)
    table = prepared.block(0, len(queries))
    own = np.flatnonzero(place[owner] < len(queries))
    table[place[owner[own]], own] = prepared.at(place[owner[own]], own, number[own])
    return table


def only_queries(
    bench: Benchmark, truths: Mapping[str, Truth], direction: Direction, queries: np.ndarray
) -> Benchmark:
    """Return a benchmark in which only some queries ask: tables for it are small.

    Pairs with items outside of the gallery are left out.
    """
    ids = {"i2t": bench.images, "t2i": bench.captions}
    asking = Ids(ids[direction].gallery[queries], kind=ids[direction].kind)
    images, captions = (asking, bench.captions) if direction == "i2t" else (bench.images, asking)
    own = {}
    for name, truth in truths.items():
        judged = truth.judged(direction)
        keep = np.isin(judged.query_of_row, queries) & (judged.item < bench.items(direction).size)
        query, item = np.searchsorted(queries, judged.query_of_row[keep]), judged.item[keep]
        pair = (query, item) if direction == "i2t" else (item, query)
        labels = Judgments(*pair, rating=judged.grade[keep], sources=[Provenance(name)])
        own[name] = Truth(name, labels, {direction: np.arange(len(queries))})
    return Benchmark(bench.name, images, captions, own)


def text_runs(tables: Mapping[str, np.ndarray], bench: Benchmark, direction: Direction) -> list[Run]:
    """Return tables of `only_queries` as runs, and their fusion by Borda's count."""
    runs: list[Run] = [MatrixRun(table, name) for name, table in tables.items()]
    return [*runs, karat.fuse(runs, bench, "borda", direction=[direction], name="fusion")]

"""Slow versions of the text kernels, written as the paper has them."""

from itertools import product
from math import exp, inf, log, log2, sqrt

MATCH = 0.5


def idf(word, training):
    images = sum(any(word in caption for caption in item) for item in training)
    return max(0.0, log(len(training) / (images + 1)))


def weight(name, word, training):
    if name == "none":
        return 1.0
    return idf(word, training) ** {"idf": 1.0, "sqrt-idf": 0.5}[name]


def bag(a, b, training, name):
    """Cosine of weighted counts of all words of two lists of captions."""
    counts = [[word for caption in item for word in caption] for item in (a, b)]
    words = sorted({*counts[0], *counts[1]})
    x, y = ([own.count(word) * weight(name, word, training) for word in words] for own in counts)
    norm = sqrt(sum(v * v for v in x)) * sqrt(sum(v * v for v in y))
    return sum(v * w for v, w in zip(x, y)) / norm if norm else 0.0


def contains(sequence, inside):
    """Whether the words of `sequence` stand in `inside` in this order."""
    rest = iter(inside)
    return all(word in rest for word in sequence)


def spans(caption, sequence):
    """M of eq. 12: all (i, j) that start with the first word, end with the last and contain the sequence.

    Of a single word, only spans of one word: eq. 12 would count "b b" as a third "b", but section 3.4.3 says
    that single words give the bag of words.
    """
    found = set()
    for i in range(len(caption)):
        for j in range(i, len(caption) if len(sequence) > 1 else i + 1):
            begins, ends = caption[i] == sequence[0], caption[j] == sequence[-1]
            if begins and ends and contains(sequence, caption[i : j + 1]):
                found.add((i, j))
    return found


def string_kernel(s, t, value, kappa, longest=3):
    """Eq. 20 and 21: sums over all sequences of words of each caption."""
    total = 0.0
    for length in range(1, longest + 1):
        for w in product(sorted(set(s)), repeat=length):
            m = len(spans(s, w))
            for v in product(sorted(set(t)), repeat=length) if m else ():
                similar = 1.0
                for one, other in zip(w, v):
                    similar *= kappa(one, other) * value(one) * value(other)
                if similar:
                    total += m * len(spans(t, v)) * MATCH ** (2 * length) * similar
    return total


def trigram(a, b, value, kappa, longest=3):
    """Summed over the cross product of captions before normalisation."""

    def summed(x, y):
        return sum(string_kernel(s, t, value, kappa, longest) for s in x for t in y)

    norm = sqrt(summed(a, a)) * sqrt(summed(b, b))
    return summed(a, b) / norm if norm else 0.0


def absolute(caption):
    """Eq. 9."""
    places = {w: [k for k, v in enumerate(caption, 1) if v == w] for w in caption}
    return {w: 1 / log2(1 + sum(p) / len(p)) for w, p in places.items()}


def relative(caption, training):
    """Eq. 10; a word that training never showed has no rank."""
    flat = [one for item in training for one in item]
    ranks = {}
    for word in caption:
        own = [k for k, v in enumerate(caption, 1) if v == word]
        place = sum(own) / len(own)
        seen = [k for one in flat for k, v in enumerate(one, 1) if v == word]
        ranks[word] = 1 - sum(k <= place for k in seen) / len(seen) if seen else 0.0
    return ranks


def chi_square(x, y):
    total = 0.0
    for word in {*x, *y}:
        a, b = x.get(word, 0.0), y.get(word, 0.0)
        if a + b:
            total += (a - b) ** 2 / (a + b)
    return total


def tag_rank(a, b, training, normalise):
    """Eq. 11, over all pairs of captions."""
    flat = [one for item in training for one in item]
    vectors = [lambda c: relative(c, training), absolute]
    scales = []
    for vector in vectors:
        found = [vector(c) for c in flat]
        far = [chi_square(x, y) for i, x in enumerate(found) for j, y in enumerate(found) if i != j]
        mean = sum(far) / len(far) if far else 0.0
        scales.append(mean or inf)

    def mean_response(x, y):
        values = [
            sum(exp(-chi_square(v(s), v(t)) / (2 * scale)) for v, scale in zip(vectors, scales)) / 2
            for s in x
            for t in y
        ]
        return sum(values) / len(values)

    value = mean_response(a, b)
    return value / sqrt(mean_response(a, a) * mean_response(b, b)) if normalise else value

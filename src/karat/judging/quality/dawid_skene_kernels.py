"""The hot loop of Dawid–Skene, compiled by numba: one step of EM in one walk over the answers."""

import numpy as np

from karat._util import njit

entry = njit(nogil=True, cache=True, error_model="numpy")


@entry
def step(start, annotator, code, allowed, kind, log_confusion, log_prior, posterior, table):
    """Fill in the posteriors under the present parameters, and what the next ones are made of.

    Parameters
    ----------
    start
        Answers come sorted by pair: where those of each pair begin, and the end.
    annotator, code
        Of each answer, who gave it and which rating it was.
    allowed, kind
        Which right ratings are possible, [kinds, ratings], and of each pair its row there.
    log_confusion
        Log probability of an answer, [annotators, given, right].
    log_prior
        Log share of each right rating.
    posterior
        Filled in: pairs by ratings.
    table
        Added to: expected numbers of answers, [annotators, given, right].

    Returns
    -------
    The log likelihood of all answers.
    """
    ratings = log_prior.size
    total = 0.0
    for pair in range(start.size - 1):
        row = posterior[pair]
        top = -np.inf
        for c in range(ratings):
            row[c] = log_prior[c] if allowed[kind[pair], c] else -np.inf
        for i in range(start[pair], start[pair + 1]):
            said = log_confusion[annotator[i], code[i]]
            for c in range(ratings):
                row[c] += said[c]
        for c in range(ratings):
            top = max(top, row[c])
        mass = 0.0
        for c in range(ratings):
            # The largest is taken off first: a hundred answers are beyond what exp can hold.
            row[c] = np.exp(row[c] - top)
            mass += row[c]
        total += top + np.log(mass)
        for c in range(ratings):
            row[c] /= mass
        for i in range(start[pair], start[pair + 1]):
            cell = table[annotator[i], code[i]]
            for c in range(ratings):
                cell[c] += row[c]
    return total


@entry
def expected_answers(start, annotator, code, posterior, table):
    """Add to `table`, [annotators, given, right], the expected numbers of answers under posteriors."""
    for pair in range(start.size - 1):
        for i in range(start[pair], start[pair + 1]):
            cell = table[annotator[i], code[i]]
            for c in range(posterior.shape[1]):
                cell[c] += posterior[pair, c]

"""The hot loops of Dawid–Skene, compiled by numba: each is one walk over the answers."""

import numpy as np

from karat._util import njit

entry = njit(nogil=True, cache=True, error_model="numpy")


@entry
def step(start, cell, kind, weight, log_confusion, log_prior, posterior, table, totals):
    """Fill in the posteriors under the present parameters, and what the next ones are made of.

    Parameters
    ----------
    start
        Answers come sorted by pair: where those of each pair begin, and the end.
    cell
        Of each answer, its row of `log_confusion` and `table`: who gave it, and which rating it was.
    kind
        Of each pair, its row of `log_prior` and `totals`.
    weight
        Of each pair, how many pairs it stands for.
    log_confusion
        Log probability of an answer, [annotators × given, right].
    log_prior
        Log probability of each right rating before any answer, [kinds, ratings].
    posterior
        Filled in: pairs by ratings.
    table
        Added to: expected numbers of answers, [annotators × given, right].
    totals
        Added to: expected numbers of pairs, [kinds, ratings].

    Returns
    -------
    The log likelihood of all answers.
    """
    ratings = log_prior.shape[1]
    # Numbers instead of views of rows: views of a million answers are counted one by one.
    row = np.empty(ratings)
    total = 0.0
    for pair in range(start.size - 1):
        first, end, own = start[pair], start[pair + 1], kind[pair]
        for c in range(ratings):
            row[c] = log_prior[own, c]
        for i in range(first, end):
            for c in range(ratings):
                row[c] += log_confusion[cell[i], c]
        top = -np.inf
        for c in range(ratings):
            top = max(top, row[c])
        mass = 0.0
        for c in range(ratings):
            # The largest is subtracted first: exp cannot represent the product of a hundred answers.
            row[c] = np.exp(row[c] - top)
            mass += row[c]
        total += weight[pair] * (top + np.log(mass))
        for c in range(ratings):
            row[c] /= mass
            posterior[pair, c] = row[c]
            row[c] *= weight[pair]
            totals[own, c] += row[c]
        for i in range(first, end):
            for c in range(ratings):
                table[cell[i], c] += row[c]
    return total


@entry
def expected_answers(start, cell, weight, posterior, table):
    """Add to `table`, [annotators × given, right], the expected numbers of answers under posteriors."""
    for pair in range(start.size - 1):
        for i in range(start[pair], start[pair + 1]):
            for c in range(posterior.shape[1]):
                table[cell[i], c] += weight[pair] * posterior[pair, c]


@entry
def left_out(start, annotator, code, counts, totals, prior_counts, counted, posterior, out):
    """Fill in the posterior of each pair under parameters that were estimated without that pair.

    Parameters
    ----------
    start, annotator, code
        As for `step`.
    counts
        Expected and assumed numbers of answers of all pairs, [annotators, given, right].
    totals
        Their sums over given answers, [annotators, right].
    prior_counts
        Expected and assumed numbers of pairs with each right rating.
    counted
        Of each pair, whether it is part of `prior_counts`.
    posterior
        What each pair contributed: pairs by ratings.
    out
        Filled in: pairs by ratings.
    """
    ratings = prior_counts.size
    for pair in range(start.size - 1):
        row = out[pair]
        own = posterior[pair]
        for c in range(ratings):
            row[c] = np.log(max(prior_counts[c] - (own[c] if counted[pair] else 0.0), 1e-12))
        for i in range(start[pair], start[pair + 1]):
            for c in range(ratings):
                left = max(counts[annotator[i], code[i], c] - own[c], 1e-12)
                row[c] += np.log(left / max(totals[annotator[i], c] - own[c], 1e-12))
        top = -np.inf
        for c in range(ratings):
            top = max(top, row[c])
        mass = 0.0
        for c in range(ratings):
            row[c] = np.exp(row[c] - top)
            mass += row[c]
        for c in range(ratings):
            row[c] /= mass

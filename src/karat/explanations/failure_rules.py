"""Rules in failures: if a query or a failure has this, it has that; over any table of booleans.

For a rule A → B among n rows: support P(A and B), confidence P(B | A), lift P(B | A) / P(B).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from karat._util import Layout, Part, Result, ends, plural, signed, track
from karat.errors import InputError, unknown_name
from karat.explanations.max_t import (
    Controls,
    MaxT,
    Noise,
    check_whole,
    cluster_sums,
    compressed,
    corrected_p,
    critical_value,
    deals,
)
from karat.scores import read_cells
from karat.stats import wilson_ends

FEWEST_ROWS = 10
MOST_RULES = 20_000
"""The most rules of one search."""


@dataclass(frozen=True)
class FailureRule:
    """If a row has all of `given`, it has `then`.

    Parameters
    ----------
    given, then
        The names of columns.
    n, of
        How many rows have all of both, and how many have all of `given`.
    support, confidence, lift
        P(given and then), P(then | given), and how many times the share of `then` among all rows that is.
    support_ends, confidence_ends, lift_ends
        Their intervals, which hold for all rules of the search together.
    p
        Of independence, corrected for the search.
    """

    given: tuple[str, ...]
    then: str
    n: int
    of: int
    support: float
    confidence: float
    lift: float
    support_ends: tuple[float, float]
    confidence_ends: tuple[float, float]
    lift_ends: tuple[float, float]
    p: float

    def __str__(self) -> str:
        return f"{' & '.join(self.given)} → {self.then}"


@dataclass(frozen=True, eq=False)
class RuleReport(Result):
    """Rules, those with the strongest evidence first.

    Parameters
    ----------
    rules
        With a lift above 1 and enough support.
    rows, clusters
        How many rows the table has, and in how many clusters.
    searched
        How many rules were looked at.
    level
        Of the intervals.
    notes
        What a reader should know.
    """

    rules: tuple[FailureRule, ...]
    rows: int
    clusters: int
    searched: int
    level: float
    notes: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.rules)

    def records(self) -> list[dict[str, Any]]:
        """Return one record per rule."""
        return [
            {
                "given": " & ".join(rule.given), "then": rule.then, "n": rule.n, "of": rule.of,
                **{
                    key: value
                    for name in ("support", "confidence", "lift")
                    for key, value in zip(
                        (name, f"{name}_low", f"{name}_high"),
                        (getattr(rule, name), *getattr(rule, f"{name}_ends")),
                    )
                },
                "p": rule.p,
            }
            for rule in self.rules
        ]  # fmt: skip

    def parts(self) -> list[Part]:
        """Return the rules, and how to read them."""
        rows = [
            [
                str(rule), f"{rule.n:,} of {rule.of:,}",
                *(f"{100 * getattr(rule, name):.1f} ({ends_in_percent(getattr(rule, f'{name}_ends'))})"
                  for name in ("support", "confidence")),
                f"{signed(rule.lift)} ({ends(*rule.lift_ends)})", f"{rule.p:.3f}",
            ]
            for rule in self.rules
        ]  # fmt: skip
        shown = [Layout(["rule", "rows", "support %", "confidence %", "lift", "p"], rows)] if rows else []
        none = [] if rows else ["No rule has a lift above 1 and enough support."]
        size = plural(self.rows, "row") + (
            f" in {self.clusters:,} clusters" if self.clusters < self.rows else ""
        )
        how = (
            f"Of {size}. Intervals ({100 * self.level:g}%) and p (of independence) hold for all "
            f"{self.searched:,} rules together."
        )
        return [*none, *shown, how]


def ends_in_percent(interval: tuple[float, float]) -> str:
    """Return an interval of shares in percent.

    >>> ends_in_percent((0.1, 0.256))
    '10.0–25.6'
    """
    return ends(100 * interval[0], 100 * interval[1], 1)


def rules(
    table: Mapping[str, Any] | str | Path,
    then: Iterable[str] | str | None = None,
    *,
    given: Iterable[str] | str | None = None,
    clusters: str | Sequence[Any] | np.ndarray | None = None,
    parts: int = 1,
    min_support: int = 5,
    most: int = 20,
    level: float = 0.95,
    deals: int = 1000,
    seed: int = 0,
) -> RuleReport:
    """Find rules "if this, then that" in a table of booleans, corrected for the search.

    Whether `then` depends on `given` is tested by dealing out the rows of `then` anew, those of a cluster
    together, and noting the largest statistic of all rules (max-T).

    Parameters
    ----------
    table
        Columns of booleans by name, or a csv, tsv or Parquet file with columns of 0 and 1.
    then
        What rules may conclude; every column by default.
    given
        What rules may start from; every column by default.
    clusters
        Per row, what it belongs to (rows of one cluster are not independent), or the name of a column.
    parts
        How many columns a rule may start from: 1 or 2. A rule from two is reported only if it adds to both.
    min_support
        The fewest rows that have both sides of a rule.
    most
        How many rules are reported.
    level, deals, seed
        How often all intervals should hold together, how often rows are dealt out, and the seed.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> red = rng.random(400) < 0.3
    >>> failed = rng.random(400) < np.where(red, 0.8, 0.3)
    >>> report = rules({"red": red, "large": rng.random(400) < 0.5, "failed": failed}, "failed")
    >>> rule = report.rules[0]
    >>> str(rule), round(rule.confidence, 2), round(rule.lift, 2), rule.p < 0.05
    ('red → failed', 0.81, 1.82, True)
    """
    correction = MaxT(level, deals, seed)
    for value, name, largest_value in (
        (parts, "parts", 2),
        (min_support, "min_support", None),
        (most, "most", None),
    ):
        check_whole(name, value, largest_value)
    named = None if then is None or given is None else {*as_names(then), *as_names(given)}
    columns, cluster = read_booleans(table, clusters, named)
    starts, targets = (choose(columns, names) for names in (given, then))
    rules = RuleSearch(columns, cluster, starts, targets, parts, min_support)
    return rules.report(most, correction)


def as_names(names: Iterable[str] | str) -> list[str]:
    """Return one name or several as a list."""
    return [names] if isinstance(names, str) else list(names)


def choose(columns: Mapping[str, np.ndarray], names: Iterable[str] | str | None) -> list[str]:
    """Return the names of columns, or raise for the first that is unknown."""
    wanted = list(columns) if names is None else as_names(names)
    for name in wanted:
        if name not in columns:
            raise unknown_name("column", name, columns)
    return list(dict.fromkeys(wanted))


def read_booleans(
    table: Mapping[str, Any] | str | Path,
    clusters: str | Sequence[Any] | np.ndarray | None,
    named: Iterable[str] | None = None,
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return columns of booleans, all or those that are named, and the number of each row's cluster."""
    where = table if isinstance(table, str | Path) else None
    source, ids = (
        columns_of_file(table, clusters, named)
        if isinstance(table, str | Path)
        else columns_of_table(table, clusters)
    )
    columns = {str(name): as_booleans(str(name), column, where) for name, column in source.items()}
    size = common_size(columns, where)
    if ids is None:
        return columns, np.arange(size)
    ids = np.asarray(ids)
    if ids.shape != (size,):
        raise InputError(f"clusters has shape {ids.shape}", fix=f"give one for each of the {size:,} rows")
    return columns, np.unique(ids, return_inverse=True)[1]


def columns_of_file(
    path: str | Path, clusters: Any, named: Iterable[str] | None
) -> tuple[dict[str, Any], Any]:
    """Return the columns of a file, all or those that are named, and what its rows belong to."""
    cells = read_cells(Path(path), answers=True)
    wanted = cells.frame.columns if named is None else cells.choose([*named])
    names = [name for name in wanted if name != clusters]
    ids = cells.text(cells.choose([clusters])[0]) if isinstance(clusters, str) else clusters
    return {name: cells.numbers(name) for name in names}, ids


def columns_of_table(table: Mapping[str, Any], clusters: Any) -> tuple[Mapping[str, Any], Any]:
    """Return the columns of a table, and what its rows belong to."""
    if not isinstance(clusters, str):
        return table, clusters
    if clusters not in table:
        raise unknown_name("column", clusters, table)
    return {name: column for name, column in table.items() if name != clusters}, table[clusters]


def common_size(columns: Mapping[str, np.ndarray], where: str | Path | None) -> int:
    """Return how many rows all columns have, or raise where that differs, or is too few."""
    sizes = {len(column) for column in columns.values()}
    if len(columns) < 2 or len(sizes) != 1 or min(sizes) < FEWEST_ROWS:
        what = plural(len(columns), "column") if len(columns) < 2 else (
            f"the columns have {' and '.join(str(size) for size in sorted(sizes))} rows"
        )  # fmt: skip
        fix = f"give two columns or more, all of the same {FEWEST_ROWS} rows or more"
        raise InputError(what, where=where, fix=fix)
    return sizes.pop()


def as_booleans(name: str, column: Any, where: str | Path | None) -> np.ndarray:
    """Return a column as booleans, or raise where it holds anything but 0 and 1."""
    array = np.asarray(column)
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise InputError(
            f"column {name!r} has shape {array.shape} and type {array.dtype}",
            where=where,
            fix="give booleans",
        )
    if array.dtype != bool:
        wrong = np.flatnonzero(~np.isin(array, (0, 1)))
        if len(wrong):
            raise InputError(
                f"column {name!r} is {array[wrong[0]]} in row {wrong[0] + 1}", where=where, fix="give 0 or 1"
            )
    return array.astype(bool)


class RuleSearch:
    """All rules of a table with enough support."""

    def __init__(
        self,
        columns: Mapping[str, np.ndarray],
        cluster: np.ndarray,
        given: Sequence[str],
        then: Sequence[str],
        parts: int,
        min_support: int,
    ) -> None:
        self.columns, self.cluster = columns, cluster
        sides: list[tuple[str, ...]] = [(name,) for name in given]
        if parts == 2:
            sides += list(combinations(given, 2))
        if len(sides) * len(then) > 50 * MOST_RULES:
            raise InputError(
                f"{len(sides) * len(then):,} rules are too many",
                fix="name fewer columns in `given` or `then`",
            )
        left = [np.logical_and.reduce([columns[name] for name in side]) for side in sides]
        size = len(cluster)
        self.rules: list[tuple[tuple[str, ...], str]] = []
        self.left: list[np.ndarray] = []
        for name in then:
            share = columns[name].mean()
            for side, rows in zip(sides, left):
                # A side that holds always, or a conclusion that does, is no rule.
                if name in side or rows.sum() == size or not 0 < share < 1:
                    continue
                if (rows & columns[name]).sum() >= min_support:
                    self.rules.append((side, name))
                    self.left.append(rows)
        if len(self.rules) > MOST_RULES:
            raise InputError(
                f"{len(self.rules):,} rules have enough support",
                fix="give a larger min_support, or fewer columns",
            )

    def report(self, most: int, correction: MaxT) -> RuleReport:
        """Return the rules with a lift above 1, the strongest evidence first."""
        clusters, size = int(self.cluster.max()) + 1, len(self.cluster)
        if not self.rules:
            return RuleReport((), size, clusters, 0, correction.level, ("no rule has enough support",))
        z, top = self.statistics(correction.deals, correction.seed)
        reach = critical_value(top, correction.level)
        p = corrected_p(z, top)
        order = [k for k in np.argsort(-z, kind="stable").tolist() if z[k] > 0 and self.adds(k, z[k], reach)]
        rules = tuple(self.rule(k, reach, float(p[k])) for k in order[:most])
        notes = () if len(order) <= most else (f"{len(order) - most:,} further rules have a lift above 1",)
        return RuleReport(rules, size, clusters, len(self.rules), correction.level, notes)

    def statistics(self, number: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the standardised covariance of both sides of every rule, and the largest in each deal."""
        constant = Controls.of(np.zeros((0, len(self.cluster))))
        rng = np.random.default_rng(seed)
        # Where each row's values come from in each deal: the same for all columns.
        source = deals(np.arange(len(self.cluster), dtype=np.float64), self.cluster, number, rng).astype(
            np.int64
        )
        z, top = np.zeros(len(self.rules)), np.zeros(number)
        by_target: dict[str, list[int]] = {}
        for k, (_, name) in enumerate(self.rules):
            by_target.setdefault(name, []).append(k)
        for name, places in track(by_target.items(), lambda target: f"rules about {target[0]}"):
            residual = self.columns[name] - self.columns[name].mean()
            rows = compressed(np.stack([self.left[k] for k in places]))
            error = np.maximum(Noise.of(residual, self.cluster).error(rows, constant), 1e-12)
            z[places] = (rows @ residual) / error
            reached = np.abs(rows @ residual[source].astype(np.float32)) / error[:, None]
            np.maximum(top, reached.max(axis=0), out=top)
        return z, top

    def adds(self, k: int, z: float, reach: float) -> bool:
        """Whether a rule from two columns says more than the rules from each of them."""
        side, name = self.rules[k]
        if len(side) == 1:
            return True
        if z < reach:
            return False
        controls = Controls.of(np.stack([self.columns[part] for part in side]))
        residual = controls.without(self.columns[name].astype(np.float64))
        noise = Noise.of(residual, self.cluster, controls.basis.shape[1])
        error = noise.error(compressed(self.left[k][None]), controls)[0]
        return bool(error > 1e-6 and (self.left[k] @ residual) / error > reach)

    def rule(self, k: int, reach: float, p: float) -> FailureRule:
        """Return a rule with its numbers."""
        side, name = self.rules[k]
        given, then = self.left[k], self.columns[name]
        both, size = given & then, len(then)
        n, of, target = int(both.sum()), int(given.sum()), int(then.sum())
        confidence, support = n / of, n / size
        lift = confidence * size / target
        # The influence of every row on the logarithm of the lift.
        moves = both / n - given / of - then / target + 1 / size
        influences = ((both - support) / size, given * (both - confidence) / of, moves)
        errors = [clustered_error(influence, self.cluster) for influence in influences]
        return FailureRule(
            side, name, n, of, support, confidence, lift,
            score_interval(support, errors[0], size, reach),
            score_interval(confidence, errors[1], of, reach),
            (float(lift * np.exp(-reach * errors[2])), float(lift * np.exp(reach * errors[2]))),
            p,
        )  # fmt: skip


def clustered_error(moves: np.ndarray, cluster: np.ndarray) -> float:
    """Return the standard error of a number that each row moves by so much, clusters independent.

    >>> clustered_error(np.array([3.0, 0.0, 4.0]), np.array([0, 0, 1]))
    5.0
    """
    sums = cluster_sums(moves[None], cluster, int(cluster.max()) + 1)
    return float(np.sqrt((sums**2).sum()))


def score_interval(share: float, error: float, n: int, reach: float) -> tuple[float, float]:
    """Return Wilson's interval of a share, with as many rows as its standard error is worth.

    Wilson, JASA 1927. Where rows of a cluster go together, `error` is larger than that of n independent rows,
    and n is cut accordingly.

    >>> [round(end, 3) for end in score_interval(0.5, 0.05, 100, 1.96)]
    [0.404, 0.596]
    """
    if 0 < share < 1 and error > 0:
        n = min(n, share * (1 - share) / error**2)  # type: ignore[assignment]
    low, high = wilson_ends(np.array(share), np.array(float(n)), reach)
    return float(low), float(high)

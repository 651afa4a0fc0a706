"""What `scripts/train_margins.py` trained, as tables: means over seeds, paired differences with intervals.

A difference of two losses is paired over seeds, each of which draws the training images too, and over test
images. With D[s, i] the difference for seed s and image i, the variance of its mean is
var(seed means) / S + var(image means) / I − var(residuals) / (S I), and the interval is Student's t with
S − 1 degrees of freedom.
"""

import json
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

COLUMNS = ("RSUM", "NSUM spice", "NSUM spice without GT", "NSUM cider", "NSUM cider without GT")
"""What results hold per test image, in this order."""
BASELINES = ("triplet hardest", "triplet sum", "InfoNCE")
ORDER = (*BASELINES, "SAM nearest", "SAM furthest", "SAM random")
LABELS = {"furthest": "SN", "random": "RS", "nearest": "HN"}
"""The paper's names of the samplers (§5.4)."""

Rows = list[dict[str, Any]]


class Trainings:
    """Finished trainings, by stage.

    Parameters
    ----------
    results
        Files of json lines.
    values
        Files with the values per test image.
    """

    def __init__(self, results: Iterable[Path], values: Iterable[Path]) -> None:
        self.records = [json.loads(line) for path in results for line in path.open(encoding="utf-8")]
        self.values: dict[str, np.ndarray] = {}
        for path in values:
            with np.load(path, allow_pickle=False) as stored:
                self.values |= dict(zip(stored["keys"].tolist(), stored["values"].astype(np.float64)))

    def select(self, stage: str, **fields: Any) -> Rows:
        """Return the records of a stage with given fields, by seed."""
        found = [
            record
            for record in self.records
            if record["stage"] == stage and all(record.get(name) == value for name, value in fields.items())
        ]
        return sorted(found, key=lambda record: record["seed"])

    def images(self, records: Rows, key: Any) -> dict[int, np.ndarray]:
        """Return, per seed, the values per test image, [columns, images]."""
        return {record["seed"]: self.values[key(record)] for record in records if key(record) in self.values}


def mean(records: Rows, name: str) -> float:
    """Return the mean of a test score over records."""
    return float(np.mean([record["test"][name] for record in records]))


def paired(first: np.ndarray, second: np.ndarray) -> tuple[float, float, float]:
    """Return the mean difference of two tables [seeds, images] and its 95% interval.

    >>> rng = np.random.default_rng(0)
    >>> base = rng.normal(size=(6, 50))
    >>> value, low, high = paired(base + 1 + rng.normal(0, 0.1, (6, 50)), base)
    >>> round(value, 1), low < 1 < high
    (1.0, True)
    """
    from scipy.stats import t

    table = first - second
    seeds, images = table.shape
    value = float(table.mean())
    by_seed, by_image = table.mean(1), table.mean(0)
    rest = table - by_seed[:, None] - by_image + value
    among_seeds, among_images = by_seed.var(ddof=1) / seeds, by_image.var(ddof=1) / images
    residual = (rest**2).sum() / ((seeds - 1) * (images - 1)) / (seeds * images)
    variance = max(among_seeds + among_images - residual, among_seeds, among_images)
    half = float(t.ppf(0.975, seeds - 1) * np.sqrt(variance))
    return value, value - half, value + half


def table_2(trainings: Trainings) -> Rows:
    """Return means over seeds, per fraction and loss: R@K, NCS by SPICE, sums."""
    out = []
    for fraction, arm in cells(trainings, "main"):
        records = trainings.select("main", fraction=fraction, arm=arm)
        row: dict[str, Any] = {"data": share(fraction), "loss": arm, "seeds": len(records)}
        for direction in ("i2t", "t2i"):
            row |= {f"{direction} R@{k}": mean(records, f"{direction} R@{k}") for k in (1, 5, 10)}
        row["Rsum"] = mean(records, "RSUM")
        for direction in ("i2t", "t2i"):
            row |= {f"{direction} N@{k}": mean(records, f"{direction} NCS(spice)@{k}") for k in (1, 5, 10)}
        row["Nsum"], row["Nsum(N)"] = mean(records, "NSUM spice"), mean(records, "NSUM spice without GT")
        out.append(row)
    return out


def protocol(trainings: Trainings) -> Rows:
    """Return R@10 with one caption per image at 100% of the data: means and ranges over seeds."""
    out = []
    for arm in arms(trainings, "main"):
        records = trainings.select("main", fraction=1.0, arm=arm)
        row: dict[str, Any] = {"loss": arm, "seeds": len(records)}
        for direction, name in (("i2t", "annotation"), ("t2i", "search")):
            values = [record["test"]["protocol"][f"{direction} R@10"] for record in records]
            row |= {f"{name} R@10": float(np.mean(values)), f"{name}, seeds": span(values)}
        out.append(row)
    return out


def contrast(trainings: Trainings, key: Any, first: Rows, second: Rows) -> dict[str, Any]:
    """Return the paired differences of two groups of trainings; nothing with fewer than two common seeds."""
    tables = [trainings.images(records, key) for records in (first, second)]
    seeds = sorted(tables[0].keys() & tables[1].keys())
    if len(seeds) < 2:
        return {}
    one, other = (np.stack([table[seed] for seed in seeds]) for table in tables)
    return {"seeds": len(seeds)} | {name: paired(one[:, k], other[:, k]) for k, name in enumerate(COLUMNS)}


def differences(trainings: Trainings, key: Any, stage: str = "main") -> Rows:
    """Return each SAM's difference to each baseline, with intervals over seeds and images."""
    out = []
    groups = sorted({(r["fraction"], r["noise"]) for r in trainings.records if r["stage"] == stage})
    for fraction, noise in groups:
        heads = {"shuffled": share(noise)} if stage == "noise" else {"data": share(fraction)}
        for arm, base in product(sams(trainings, stage), BASELINES):
            groups_of = [
                trainings.select(stage, fraction=fraction, noise=noise, arm=name) for name in (arm, base)
            ]
            if found := contrast(trainings, key, *groups_of):
                out.append({**heads, "loss": arm, "minus": base, **found})
    return out


def controls(trainings: Trainings, key: Any) -> Rows:
    """Return SAM's difference to the same loss whose margins know nothing of meaning."""
    out = []
    for fraction, arm in cells(trainings, "control"):
        real = trainings.select("main", fraction=fraction, arm=arm)
        for meaning in ("constant", "permuted"):
            control = trainings.select("control", fraction=fraction, arm=arm, meaning=meaning)
            found = contrast(trainings, key, real, control)
            out.append({"data": share(fraction), "loss": arm, "minus": f"{meaning} margins", **found})
    return out


def positive_left_out(trainings: Trainings, key: Any) -> Rows:
    """Return the difference of SAM with ``own="out"`` to SAM with ``own="in"``."""
    out = []
    for fraction, arm in cells(trainings, "out"):
        groups = [trainings.select(stage, fraction=fraction, arm=arm) for stage in ("out", "main")]
        out.append({"data": share(fraction), "loss": arm, **contrast(trainings, key, *groups)})
    return out


def margin_spread(table: np.ndarray, owner: np.ndarray) -> dict[str, float]:
    """Return means and deviations of φ, and the percentage of the margins' variance that negatives cause.

    Parameters
    ----------
    table
        φ, images by captions.
    owner
        The image of each caption.

    Examples
    --------
    >>> table = np.array([[3.0, 0.5, 0.1], [0.1, 2.0, 0.3], [0.3, 0.1, 3.0]])
    >>> {name: round(value, 2) for name, value in margin_spread(table, np.arange(3)).items()}
    {'own φ': 2.67, 'own sd': 0.47, 'other φ': 0.23, 'other sd': 0.15, 'share of negatives': 9.0}
    """
    positive = table[owner, np.arange(len(owner))].astype(np.float64)
    counts, total, squares = np.zeros((3, len(table)))
    for image, row in enumerate(table):
        others = row[owner != image].astype(np.float64)
        counts[image], total[image], squares[image] = len(others), others.sum(), (others**2).sum()
    within = (squares / counts - (total / counts) ** 2)[owner].mean()
    between = (positive - (total / counts)[owner]).var()
    mean = total.sum() / counts.sum()
    return {
        "own φ": float(positive.mean()),
        "own sd": float(positive.std()),
        "other φ": float(mean),
        "other sd": float(np.sqrt(squares.sum() / counts.sum() - mean**2)),
        "share of negatives": float(100 * within / (within + between)),
    }


def margin_size(trainings: Trainings, key: Any) -> Rows:
    """Return what a larger margin changes (§5.4): τ = 3 minus τ = 10, all else equal."""
    out = []
    for (fraction, arm), keep in product(cells(trainings, "grid"), (True, False)):
        records = trainings.select("grid", fraction=fraction, arm=arm)
        large, small = (
            [r for r in records if (r["settings"]["tau"], r["settings"]["keep_triplet"]) == (tau, keep)]
            for tau in (3.0, 10.0)
        )
        found = contrast(trainings, key, large, small)
        out.append({"data": share(fraction), "loss": arm, "T": "✓" if keep else "✗", **found})
    return out


def tables_4_5(trainings: Trainings) -> Rows:
    """Return τ × sampling × with or without the triplet."""
    out = []
    records = [record for record in trainings.records if record["stage"] == "grid"]
    settings = {
        (r["fraction"], r["settings"]["sampling"], r["settings"]["tau"], r["settings"]["keep_triplet"])
        for r in records
    }
    for fraction, sampling, tau, keep in sorted(settings, key=lambda s: (s[0], s[1], s[2], not s[3])):
        own = [
            r for r in records
            if r["fraction"] == fraction
            and (r["settings"]["sampling"], r["settings"]["tau"], r["settings"]["keep_triplet"])
            == (sampling, tau, keep)
        ]  # fmt: skip
        out.append({
            "data": share(fraction), "τ": tau, "S": LABELS[sampling], "T": "✓" if keep else "✗",
            "seeds": len(own), "Nsum": mean(own, "NSUM spice"), "Nsum(N)": mean(own, "NSUM spice without GT"),
            "Rsum": mean(own, "RSUM"),
        })  # fmt: skip
    return out


def noise_table(trainings: Trainings) -> Rows:
    """Return scores on the clean test pairs after training with shuffled captions."""
    out = []
    for noise in sorted({record["noise"] for record in trainings.records if record["stage"] == "noise"}):
        for arm in arms(trainings, "noise"):
            records = trainings.select("noise", noise=noise, arm=arm)
            out.append({
                "shuffled": share(noise), "loss": arm, "seeds": len(records), "Rsum": mean(records, "RSUM"),
                "Nsum": mean(records, "NSUM spice"), "Nsum(N)": mean(records, "NSUM spice without GT"),
            })  # fmt: skip
    return out


def convergence(trainings: Trainings) -> Rows:
    """Return the mean dev RSUM by epoch, the best epoch and the first with 90% of its score (§5.2)."""
    out = []
    for fraction, arm in cells(trainings, "main"):
        records = trainings.select("main", fraction=fraction, arm=arm)
        curve = np.mean([record["curve"] for record in records], axis=0)
        row: dict[str, Any] = {"data": share(fraction), "loss": arm, "epochs": len(curve)}
        row |= {f"epoch {k}": float(curve[k - 1]) for k in (1, 2, 3, 5, 10) if k <= len(curve)}
        row["last"] = float(curve[-1])
        row["best epoch"] = float(np.median([record["dev"]["epoch"] for record in records]))
        row["90% of best"] = float(np.median([first_epoch(record["curve"]) for record in records]))
        row["last loss / first"] = float(np.mean([r["losses"][-1] / r["losses"][0] for r in records]))
        out.append(row)
    return out


def first_epoch(curve: Sequence[float], part: float = 0.9) -> int:
    """Return the first epoch, from 1, that reaches a part of the best score.

    >>> first_epoch([10, 80, 91, 100, 70])
    3
    """
    return 1 + int(np.argmax(np.asarray(curve) >= part * max(curve)))


def figure_3(trainings: Trainings, metric: str = "spice") -> Rows:
    """Return SR@5 and the hit rate against m, text to image without ground truth, at 100% of the data."""
    out = []
    for arm in arms(trainings, "main"):
        records = trainings.select("main", fraction=1.0, arm=arm)
        for column in ("SR@5", "hit rate"):
            if records:
                values = np.mean([record["test"][f"figure 3 {metric}"][column] for record in records], axis=0)
                row = {"loss": arm, "value": column}
                out.append(row | {f"m = {m}": float(v) for m, v in zip(
                    records[0]["test"][f"figure 3 {metric}"]["m"], values)})  # fmt: skip
    return out


def chosen_settings(trainings: Trainings) -> Rows:
    """Return what dev chose for every loss and fraction, of nine settings each."""
    out = []
    for fraction, arm in cells(trainings, "tune"):
        best = max(trainings.select("tune", fraction=fraction, arm=arm), key=lambda r: r["dev"]["RSUM"])
        name = next(k for k in ("alpha", "temperature", "tau") if k in best["settings"])
        setting = f"{name} = {best['settings'][name]:g}"
        row = {"data": share(fraction), "loss": arm, "lr": best["lr"], "setting": setting}
        out.append(row | {"dev RSUM": best["dev"]["RSUM"]})
    return out


def share(value: float) -> str:
    """Return a share in percent.

    >>> share(0.25)
    '25%'
    """
    return f"{value:.0%}"


def span(values: Sequence[float]) -> str:
    """Return the smallest and the largest value.

    >>> span([20.04, 19.0])
    '19.0 to 20.0'
    """
    return f"{min(values):.1f} to {max(values):.1f}"


def arms(trainings: Trainings, stage: str) -> list[str]:
    """Return the losses of a stage."""
    trained = {record["arm"] for record in trainings.records if record["stage"] == stage}
    return [arm for arm in ORDER if arm in trained]


def sams(trainings: Trainings, stage: str) -> list[str]:
    """Return the adaptive margins of a stage."""
    return [arm for arm in arms(trainings, stage) if arm not in BASELINES]


def cells(trainings: Trainings, stage: str) -> list[tuple[float, str]]:
    """Return the fractions and losses of a stage."""
    fractions = sorted({record["fraction"] for record in trainings.records if record["stage"] == stage})
    return [
        (fraction, arm) for fraction in fractions for arm in arms(trainings, stage)
        if trainings.select(stage, fraction=fraction, arm=arm)
    ]  # fmt: skip


def markdown(rows: Rows) -> str:
    """Return rows as a markdown table; triples are values with their intervals.

    >>> print(markdown([{"a": "x", "b": 1.25}, {"a": "y", "b": (1.0, 0.5, 1.5)}]))
    | a | b |
    |---|--:|
    | x | 1.2 |
    | y | +1.0 (+0.5 to +1.5) |
    """
    if not rows:
        return "(not trained yet)"

    def cell(value: Any) -> str:
        if isinstance(value, tuple):
            middle, low, high = value
            return f"{middle:+.1f} ({low:+.1f} to {high:+.1f})"
        if isinstance(value, float):
            return f"{value:.1f}" if abs(value) >= 0.1 else f"{value:.2g}"
        return str(value)

    names = list(rows[0])
    numeric = [not isinstance(rows[0][name], str) for name in names]
    lines = [names, *([cell(row.get(name, "")) for name in names] for row in rows)]
    text = [f"| {' | '.join(line)} |" for line in lines]
    text.insert(1, "|" + "|".join("--:" if is_number else "---" for is_number in numeric) + "|")
    return "\n".join(text)

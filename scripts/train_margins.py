"""The experiments of Semantic margin §5 on Flickr8k, with karat's own small network.

    python scripts/train_margins.py prepare --data DIR --to .prepared
    python scripts/train_margins.py run .prepared --out results --minutes 9
    python scripts/train_margins.py tables results/results.jsonl --values results/values.npz

``prepare`` needs karat with its extras, and writes numbers alone: features of images, numbers of words, φ of
the test images. ``run`` needs numpy, torch and safetensors, on a GPU or a CPU. Every finished training is a
line of results.jsonl, and is not repeated when the command is given again: interrupt it whenever you like.
``tables`` prints, or with --to fills the marks of a page. Stages follow each other, since hyper-parameters
come from the first.

- tune: every arm on dev, 9 settings each (3 learning rates × 3 margins, temperatures or τ), one seed.
- main: 10%, 25%, 100% of the training images, several seeds (table 2); a seed draws the images too.
- noise: 20% and 50% of the captions with another's image, scored on the clean test pairs.
- grid: τ × sampling × with or without the triplet (tables 4 and 5).
- out: SAM with the positive left out of its references.
- control: SAM with margins that know nothing of meaning: all equal to the mean one (constant), or those of
  other captions of the split (permuted). What SAM gains over these is due to meaning.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

SPLITS = {"train": 6000, "dev": 1000, "test": 1000}
PER_IMAGE = 5
PROTOCOL = 2
"""The caption of an image that Hodosh et al. test with."""
EPOCHS = {0.1: 30, 0.25: 25, 1.0: 30}
SEEDS = {0.1: 10, 0.25: 10, 1.0: 5}
TUNING_SEED = 1000
LRS = (3e-4, 1e-3, 3e-3)
TAUS = (3.0, 5.0, 10.0)
SAMPLINGS = ("nearest", "furthest", "random")
ARMS: dict[str, dict[str, Any]] = {
    "triplet hardest": {"loss": "triplet", "negatives": "hardest", "grid": ("alpha", (0.1, 0.2, 0.4))},
    "triplet sum": {"loss": "triplet", "negatives": "sum", "grid": ("alpha", (0.1, 0.2, 0.4))},
    "InfoNCE": {"loss": "infonce", "grid": ("temperature", (0.03, 0.07, 0.15))},
    **{
        f"SAM {sampling}": {"loss": "sam", "sampling": sampling, "grid": ("tau", TAUS)}
        for sampling in SAMPLINGS
    },
}
FIGURE_3 = (1, 2, 3, 5, 10, 15, 20, 25, 30)
METRICS = ("spice", "cider")
PER_IMAGE_COLUMNS = ("RSUM", *(f"NSUM {metric}{gt}" for metric in METRICS for gt in ("", " without GT")))

Cell = dict[str, Any]


# prepare


def prepare(data: Path, folder: Path) -> None:
    """Write features, words and φ tables of Flickr8k as numbers."""
    import karat
    from karat.baselines.images import ImageFeatures
    from karat.captions import all_pairs, tokenise
    from karat.training.image_input import CountProjection

    sys.path.insert(0, str(Path(__file__).parents[1] / "replications"))
    from _hodosh_store import digest, tell, unpacked

    folder.mkdir(parents=True, exist_ok=True)
    flickr = data / "flickr8k"
    benches = {split: karat.load_benchmark("flickr8k", folder=flickr, split=split) for split in SPLITS}
    names = {split: bench.images.values.tolist() for split, bench in benches.items()}
    if not (folder / "features.npy").exists():
        archive = flickr / "images-256.tar"
        every = [name for own in names.values() for name in own]
        pictures = unpacked(archive, every, digest([archive]))
        paths = {split: [pictures / name for name in own] for split, own in names.items()}
        tell("finding the words of images")
        features = ImageFeatures().fit(paths["train"])
        counts = {split: features.transform(own) for split, own in paths.items()}
        tell("projecting them")
        projection = CountProjection().fit(counts["train"], features.levels)
        table = np.concatenate([projection.transform(counts[split]) for split in SPLITS])
        np.save(folder / "features.npy", table.astype(np.float16))
    captions = [tokenise(text) for bench in benches.values() for text in bench.needed_texts]
    number: dict[str, int] = {}
    words = np.zeros((len(captions), max(map(len, captions))), np.uint16)
    for row, own in zip(words, captions):
        row[: len(own)] = [number.setdefault(word, len(number) + 1) for word in own]
    np.save(folder / "words.npy", words)
    (folder / "words.json").write_text(json.dumps(list(number)))
    for metric in METRICS:
        tell(f"{metric} of test images")
        table = all_pairs(benches["test"], metric)
        np.savez_compressed(folder / f"{metric}.npz", table=table.astype(np.float16))
    sizes = {path.name: path.stat().st_size / 2**20 for path in sorted(folder.iterdir())}
    print("\n".join(f"{name}: {size:.1f} MiB" for name, size in sizes.items()))
    print(f"{folder}: {sum(sizes.values()):.1f} MiB in all")


# run


class Flickr:
    """What `prepare` wrote, as pairs on a device; margins of the last training split are kept."""

    def __init__(self, folder: Path, device: str, graph: bool) -> None:
        import torch

        self.device, self.graph = device, graph
        ends = np.cumsum([0, *SPLITS.values()])
        self.ranges = dict(zip(SPLITS, pairwise(ends)))
        self.features = np.load(folder / "features.npy").astype(np.float32)
        self.words = np.load(folder / "words.npy").astype(np.int64)
        self.phi = {
            metric: torch.as_tensor(np.load(folder / f"{metric}.npz")["table"], dtype=torch.float32)
            for metric in METRICS
        }
        self._kept: tuple[Any, Any] = (None, None)

    def rows(self, split: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the features of a split's images and the words of its captions."""
        begin, end = self.ranges[split]
        return self.features[begin:end], self.words[PER_IMAGE * begin : PER_IMAGE * end]

    def split(self, fraction: float, seed: int, noise: float) -> tuple[Any, Any, Any, np.ndarray]:
        """Return training, dev and test pairs in the training's vocabulary, and the training's words."""
        from karat.training.pairs import PairData

        features, words = self.rows("train")
        drawn = np.random.default_rng([seed, 1]).permutation(len(features))
        drawn = np.sort(drawn[: round(fraction * len(features))])
        owner = np.arange(len(words)) // PER_IMAGE
        kept = np.isin(owner, drawn)
        train = PairData.of(features[drawn], words[kept], np.searchsorted(drawn, owner[kept]))
        if noise:
            train = shuffled(train, noise, seed)
        number = vocabulary(train.tokens.numpy(), int(self.words.max()) + 1)
        length = int(((train.tokens > 0).sum(1)).max())
        test = {}
        for name in ("dev", "test"):
            features, words = self.rows(name)
            owner = np.arange(len(words)) // PER_IMAGE
            test[name] = PairData.of(features, number[words[:, :length]], owner)
        own = train.tokens.numpy()
        known = PairData.of(train.features, number[own[:, :length]], train.owner)
        return known, test["dev"], test["test"], own

    def margins(self, cell: Cell, words: np.ndarray, owner: Any) -> Any:
        """Return φ of the training split, made on the device."""
        from karat.training.cider import cider_margins

        meaning = cell.get("meaning", "real")
        key = (cell["fraction"], cell["seed"], cell["noise"], cell.get("own", "in"), meaning)
        if self._kept[0] != key:
            self._kept = (None, None)
            made = cider_margins(words, owner.numpy(), own=key[3], device=self.device)
            if meaning != "real":
                forget_meaning(made.table, owner.to(self.device), meaning, cell["seed"])
            self._kept = (key, made)
        return self._kept[1]


def forget_meaning(table: Any, owner: Any, how: str, seed: int) -> None:
    """Replace φ of captions of other images, in place, by its mean or by that of another caption."""
    import torch

    generator = torch.Generator(table.device).manual_seed(seed)
    captions = torch.arange(len(owner), device=table.device)
    mean = (table.sum(dtype=torch.float64) - table[owner, captions].sum(dtype=torch.float64)) / (
        table.numel() - len(owner)
    )
    positive = table[owner, captions].mean(dtype=torch.float64)
    for image, row in enumerate(table):
        others = (owner != image).nonzero()[:, 0]
        if how == "permuted":
            order = torch.randperm(len(others), generator=generator, device=table.device)
            row[others] = row[others[order]]
        else:
            row[others] = mean.to(row.dtype)
            row[owner == image] = positive.to(row.dtype)


def shuffled(pairs: Any, share: float, seed: int) -> Any:
    """Return pairs of which a share of the captions, drawn by `seed`, belongs to another's image.

    The drawn captions exchange their images at random; by chance a few may get their own again.
    """
    import torch

    from karat.training.pairs import PairData

    rng = np.random.default_rng(seed)
    drawn = rng.permutation(pairs.n_captions)[: round(share * pairs.n_captions)]
    owner = pairs.owner.clone()
    owner[drawn] = pairs.owner[rng.permutation(drawn)]
    order = torch.argsort(owner, stable=True)
    return PairData(pairs.features, pairs.tokens[order], owner[order])


def vocabulary(words: np.ndarray, size: int) -> np.ndarray:
    """Return the number that the network has for every word: 0 none, 1 rare ones, then the others."""
    rows = np.sort(words, axis=1)
    first = np.diff(rows, axis=1, prepend=0) > 0
    counts = np.bincount(rows[first], minlength=size)
    counts[0] = 0
    number = np.ones(size, np.int64)
    number[0] = 0
    number[counts >= 2] = np.arange(2, 2 + int((counts >= 2).sum()))
    return number


def train_cell(flickr: Flickr, cell: Cell) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the record of one training, and its values per test image and test vectors."""
    import torch

    from karat.training import LOSSES
    from karat.training.network import DualEncoder, NetworkOptions
    from karat.training.trainer import Trainer, TrainingOptions

    begin = time.time()
    train, dev, test, words = flickr.split(cell["fraction"], cell["seed"], cell["noise"])
    kind = LOSSES[cell["loss"]]
    given: list[Any] = [flickr.margins(cell, words, train.owner)] if kind.needs_margins else []
    more = {} if cell["loss"] == "infonce" else {"reduction": "mean"}
    loss = kind(*given, **cell["settings"], **more)
    n_words = 1 + max(int(part.tokens.max()) for part in (train, dev, test))
    options = {
        "epochs": cell["epochs"], "lr": cell["lr"], "seed": cell["seed"], "precision": "float32",
        "weight_decay": cell["weight_decay"],
    }  # fmt: skip

    def trained(graph: bool) -> Trainer:
        torch.manual_seed(cell["seed"])
        network = DualEncoder((train.features.shape[1],), max(n_words, 2), NetworkOptions(**cell["network"]))
        trainer = Trainer(network, loss, train, dev, TrainingOptions(graph=graph, **options), flickr.device)
        trainer.fit()
        return trainer

    try:
        trainer = trained(flickr.graph)
    except RuntimeError as error:  # a GPU or a version of torch that cannot record a step
        if not flickr.graph:
            raise
        print(f"without recording steps: {error}", file=sys.stderr, flush=True)
        flickr.graph = False
        trainer = trained(False)
    images, captions = trainer.vectors(test.to(flickr.device))
    scores, values = test_scores(images, captions, flickr.phi)
    record = {
        **cell,
        "dev": {name: value for name, value in trainer.best.items() if name != "loss"},
        "curve": [round(one["RSUM"], 2) for one in trainer.history],
        "losses": [round(one["loss"], 5) for one in trainer.history],
        "test": scores,
        "seconds": round(time.time() - begin, 2),
    }
    vectors = {"images": images.float().cpu().numpy(), "captions": captions.half().cpu().numpy()}
    return record, {"values": values, **vectors}


def test_scores(images: Any, captions: Any, phi: dict[str, Any]) -> tuple[dict[str, Any], np.ndarray]:
    """Return the scores of test vectors in percent, and per image RSUM and NSUM, [columns, images]."""
    import torch

    from karat.training.retrieval_scores import DEPTHS, places, recalls

    device = images.device
    similarity = images @ captions.T
    owner = torch.arange(len(captions), device=device) // PER_IMAGE
    single = similarity[:, PROTOCOL::PER_IMAGE]
    scores: dict[str, Any] = {
        **recalls(similarity, owner),
        "protocol": recalls(single, torch.arange(len(single), device=device)),
    }
    by_image, by_caption = places(similarity, owner)
    columns = [
        sum((by_image < k).float() + (by_caption < k).float().view(-1, PER_IMAGE).mean(1) for k in DEPTHS)
    ]
    own = owner == torch.arange(len(images), device=device)[:, None]
    for metric, table in phi.items():
        table = table.to(device)
        for gt, label in ((True, ""), (False, " without GT")):
            shown = similarity if gt else similarity.masked_fill(own, -torch.inf)
            gain = table if gt else table.masked_fill(own, 0)
            total = torch.zeros(len(images), device=device)
            nsum = 0.0
            for direction in ("i2t", "t2i"):
                ranked, gained = (shown, gain) if direction == "i2t" else (shown.T, gain.T)
                first = gained.gather(1, ranked.topk(max(DEPTHS), dim=1).indices)
                ideal = gained.topk(max(DEPTHS), dim=1).values
                for k in DEPTHS:
                    value = first[:, :k].sum(1) / ideal[:, :k].sum(1)
                    scores[f"{direction} NCS({metric}{label})@{k}"] = 100 * float(value.nanmean())
                    nsum += 100 * float(value.nanmean())
                    total += value if direction == "i2t" else value.view(-1, PER_IMAGE).nanmean(1)
            scores[f"NSUM {metric}{label}"] = nsum
            columns.append(total)
        scores[f"figure 3 {metric}"] = semantic_recall(similarity, table, own)
    return scores, torch.stack(columns).mul(100).cpu().numpy().astype(np.float32)


def semantic_recall(similarity: Any, table: Any, own: Any) -> dict[str, list[float]]:
    """Return SR@5 and the hit rate at 5 against m, text to image without ground truth (figure 3)."""
    import torch

    found = similarity.masked_fill(own, -torch.inf).T.topk(5, dim=1).indices
    # Of equally similar items the earlier count, as in karat's SR; SPICE has many such, and topk takes any.
    sorted_items = table.masked_fill(own, -1).T.sort(dim=1, descending=True, stable=True)
    best, items = (part[:, : max(FIGURE_3)] for part in sorted_items)
    shared = (items[:, :, None] == found[:, None]).any(2) & (best > 0)
    out: dict[str, list[float]] = {"m": list(FIGURE_3), "SR@5": [], "hit rate": []}
    for m in FIGURE_3:
        relevant = (best[:, :m] > 0).sum(1)
        out["SR@5"].append(100 * float((shared[:, :m].sum(1) / relevant).nanmean()))
        out["hit rate"].append(100 * float(shared[:, :m].any(1)[relevant > 0].float().mean()))
    return out


# cells


def cell_of(stage: str, arm: str, fraction: float, seed: int, lr: float, **settings: Any) -> Cell:
    """Return one training as data."""
    about = ARMS[arm]
    fixed = {key: value for key, value in about.items() if key not in ("loss", "grid")}
    noise = settings.pop("noise", 0.0)
    special = {name: settings.pop(name) for name in ("own", "meaning") if name in settings}
    cell = {
        "stage": stage, "arm": arm, "loss": about["loss"], "fraction": fraction, "seed": seed, "noise": noise,
        "lr": lr, "epochs": EPOCHS[fraction], "weight_decay": 0.01, "network": {},
        "settings": {**fixed, **settings},
    }  # fmt: skip
    return {**cell, **special}


def key_of(cell: Cell) -> str:
    """Return a name for what is trained, whatever came out."""
    fields = (
        "stage", "arm", "fraction", "seed", "noise", "lr", "epochs", "weight_decay", "network", "settings",
        "own", "meaning",
    )  # fmt: skip
    return json.dumps([cell.get(name) for name in fields], sort_keys=True)


def tuning() -> list[Cell]:
    """Return the trainings that hyper-parameters are chosen from: 9 per arm and fraction."""
    return [
        cell_of("tune", arm, fraction, TUNING_SEED, lr, **{about["grid"][0]: value})
        for fraction in EPOCHS for arm, about in ARMS.items() for lr in LRS for value in about["grid"][1]
    ]  # fmt: skip


def chosen(records: list[Cell]) -> dict[tuple[str, float], Cell]:
    """Return, per arm and fraction, the tuning record with the best RSUM on dev."""
    best: dict[tuple[str, float], Cell] = {}
    for record in records:
        key = record["arm"], record["fraction"]
        if record["stage"] == "tune" and (
            key not in best or record["dev"]["RSUM"] > best[key]["dev"]["RSUM"]
        ):
            best[key] = record
    return best


def tuned(best: dict[tuple[str, float], Cell], arm: str, fraction: float) -> dict[str, Any]:
    """Return the learning rate and the setting that were chosen for an arm."""
    record, name = best[arm, fraction], ARMS[arm]["grid"][0]
    return {"lr": record["lr"], name: record["settings"][name]}


def stages(records: list[Cell]) -> Iterator[list[Cell]]:
    """Yield the trainings of stage after stage; `records` grows meanwhile."""
    yield tuning()
    best = chosen(records)
    yield [
        cell_of("main", arm, fraction, seed, **tuned(best, arm, fraction))
        for fraction in EPOCHS for seed in range(SEEDS[fraction]) for arm in ARMS
    ]  # fmt: skip
    yield [
        cell_of("noise", arm, 1.0, seed, noise=noise, **tuned(best, arm, 1.0))
        for noise in (0.2, 0.5) for seed in range(5) for arm in ARMS
    ]  # fmt: skip
    yield [
        cell_of("grid", f"SAM {sampling}", fraction, seed, best[f"SAM {sampling}", fraction]["lr"],
                tau=tau, keep_triplet=keep)
        for fraction, seeds in ((0.1, 5), (1.0, 3)) for seed in range(seeds)
        for tau in TAUS for sampling in SAMPLINGS for keep in (True, False)
    ]  # fmt: skip
    yield [
        cell_of("out", arm, fraction, seed, own="out", **tuned(best, arm, fraction))
        for fraction in EPOCHS for seed in range(5) for arm, about in ARMS.items() if about["loss"] == "sam"
    ]  # fmt: skip
    yield [
        cell_of("control", arm, fraction, seed, meaning=meaning, **tuned(best, arm, fraction))
        for fraction in EPOCHS for seed in range(SEEDS[fraction]) for meaning in ("constant", "permuted")
        for arm, about in ARMS.items() if about["loss"] == "sam"
    ]  # fmt: skip


_FLICKR: Flickr | None = None


def start_worker(folder: Path, device: str, graph: bool) -> None:
    """Load the data once per process."""
    global _FLICKR
    import torch

    torch.set_num_threads(1)
    _FLICKR = Flickr(folder, device, graph)


def work(cell: Cell) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Train one cell in a process of its own."""
    assert _FLICKR is not None
    return train_cell(_FLICKR, cell)


def smoke(folder: Path, device: str) -> None:
    """Train every arm for a few steps with and without recorded steps, and print how long each takes."""
    for graph in (False, True):
        flickr = Flickr(folder, device, graph)
        for arm in ARMS:
            cell = {**cell_of("smoke", arm, 0.1, 0, 1e-3), "epochs": 5}
            record, _ = train_cell(flickr, cell)
            print(
                f"{arm}, {'recorded' if flickr.graph else 'plain'} steps: {record['seconds']} s, "
                f"losses {record['losses']}, dev RSUM {record['curve']}",
                flush=True,
            )


def run(
    folder: Path, out: Path, before: list[Path], minutes: float, workers: int, device: str, graph: bool
) -> None:
    """Train what is missing until the time is over; every finished training is a line of a file at once."""
    end = time.time() + 60 * minutes
    out.mkdir(parents=True, exist_ok=True)
    target = out / "results.jsonl"
    records = [json.loads(line) for path in (*before, target) if path.exists() for line in path.open()]
    values = load_values(out / "values.npz")
    saved = time.time()
    context = multiprocessing.get_context("spawn")
    with context.Pool(workers, start_worker, (folder, device, graph)) as pool, target.open("a") as file:
        for cells in stages(records):
            done = {key_of(record) for record in records}
            missing = [cell for cell in cells if key_of(cell) not in done]
            # Trainings of one split come together, so that a process makes its margins once.
            waiting, running = list(missing), []
            while waiting or running:
                while waiting and len(running) < workers and time.time() < end:
                    running.append(pool.apply_async(work, (waiting.pop(0),)))
                ready = [task for task in running if task.ready()]
                running = [task for task in running if not task.ready()]
                for task in ready:
                    try:
                        record, arrays = task.get()
                    except Exception as error:  # the others go on; the next call tries it again
                        print(f"a training failed: {error!r}", file=sys.stderr, flush=True)
                        continue
                    records.append(record)
                    file.write(json.dumps(record) + "\n")
                    file.flush()
                    values[key_of(record)] = arrays["values"]
                    keep_vectors(out, record, arrays)
                    print(
                        f"{record['stage']} {record['arm']} {record['fraction']} {record['noise']} "
                        f"seed {record['seed']} lr {record['lr']} {record['settings']}: "
                        f"dev {record['dev']['RSUM']:.1f}, test {record['test']['RSUM']:.1f}, "
                        f"{record['seconds']} s, {len(waiting)} to go",
                        flush=True,
                    )
                if not running and time.time() >= end:
                    waiting = []
                time.sleep(0.02)
                if ready and time.time() - saved > 20:
                    save_values(out, values)
                    saved = time.time()
            save_values(out, values)
            if time.time() >= end:
                print("the time is over; give the same command again to go on")
                break
        else:
            print("everything is done")


def keep_vectors(out: Path, record: Cell, arrays: dict[str, np.ndarray]) -> None:
    """Keep the test vectors of one training, to compare its scores with `karat.evaluate`'s."""
    path = out / "vectors.npz"
    if record["stage"] == "main" and record["fraction"] == 1.0 and not path.exists():
        scores = json.dumps(record["test"])
        np.savez(path, images=arrays["images"], captions=arrays["captions"], scores=np.array(scores))


def save_values(out: Path, values: dict[str, np.ndarray]) -> None:
    """Write the values per test image of the trainings of this folder."""
    if values:
        draft = out / "draft.npz"
        table = np.stack(list(values.values())).astype(np.float16)
        np.savez_compressed(draft, keys=np.array(list(values)), values=table)
        os.replace(draft, out / "values.npz")


def load_values(path: Path) -> dict[str, np.ndarray]:
    """Return what `save_values` wrote; nothing where there is no file."""
    if not path.exists():
        return {}
    with np.load(path) as stored:
        return dict(zip(stored["keys"].tolist(), stored["values"].astype(np.float32)))


def margin_spreads(folder: Path) -> list[dict[str, Any]]:
    """Return how large margins are, and how much of them depends on the negative, for the first seed."""
    from _margin_tables import margin_spread, share

    from karat.training.cider import cider_margins

    flickr, out = Flickr(folder, "cpu", False), []
    for fraction in EPOCHS:
        train, _, _, words = flickr.split(fraction, 0, 0.0)
        owner = train.owner.numpy()
        for own in ("in", "out"):
            table = cider_margins(words, owner, own=own, device="cpu").table.numpy()
            out.append({"data": share(fraction), "positive": own, **margin_spread(table, owner)})
    return out


def tables(
    results: list[Path], values: list[Path], prepared: Path | None, page: Path | None, rows: Path | None
) -> None:
    """Print the tables of all trainings, or write them into a page between its marks, and as json."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "replications"))
    import _margin_tables as made

    trainings = made.Trainings(results, values)
    parts = {
        "settings": made.chosen_settings(trainings),
        "table 2": made.table_2(trainings),
        "protocol": made.protocol(trainings),
        "differences": made.differences(trainings, key_of),
        "controls": made.controls(trainings, key_of),
        "own": made.positive_left_out(trainings, key_of),
        "tables 4 and 5": made.tables_4_5(trainings),
        "margin size": made.margin_size(trainings, key_of),
        "noise": made.noise_table(trainings),
        "noise differences": made.differences(trainings, key_of, "noise"),
        "convergence": made.convergence(trainings),
        "figure 3": made.figure_3(trainings),
    }
    if prepared is not None:
        parts["margins"] = margin_spreads(prepared)
    if rows is not None:
        rows.write_text(json.dumps(parts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if page is None:
        for name, part in parts.items():
            print(f"{name}\n\n{made.markdown(part)}\n")
        return
    text = page.read_text(encoding="utf-8")
    for name, part in parts.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, found, rest = text.partition(begin)
        if found:
            text = before + begin + "\n" + made.markdown(part) + "\n\n" + end + rest.partition(end)[2]
    page.write_text(text, encoding="utf-8")


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("prepare")
    one.add_argument("--data", type=Path, default=Path(os.environ.get("KARAT_DATA", ".")))
    one.add_argument("--to", type=Path, required=True)
    one = commands.add_parser("run")
    one.add_argument("prepared", type=Path)
    one.add_argument("--out", type=Path, required=True)
    one.add_argument("--before", type=Path, nargs="*", default=[], help="results.jsonl of earlier calls")
    one.add_argument("--minutes", type=float, default=9.0, help="start no training after this many")
    one.add_argument("--workers", type=int, default=8)
    one.add_argument("--device", default=None)
    one.add_argument("--plain", action="store_true", help="do not record steps on a GPU")
    one.add_argument("--smoke", action="store_true", help="a few steps of every arm, to see that all is well")
    one = commands.add_parser("tables")
    one.add_argument("results", type=Path, nargs="+")
    one.add_argument("--values", type=Path, nargs="*", default=[], help="values.npz of every call")
    one.add_argument("--prepared", type=Path, help="what prepare wrote: adds the sizes of margins")
    one.add_argument("--to", type=Path, help="a page with marks for the tables; by default they are printed")
    one.add_argument("--json", type=Path, help="write the rows here too")
    asked = parser.parse_args()
    if asked.command == "prepare":
        prepare(asked.data, asked.to)
    elif asked.command == "tables":
        tables(asked.results, asked.values, asked.prepared, asked.to, asked.json)
    else:
        import torch

        device = asked.device or ("cuda" if torch.cuda.is_available() else "cpu")
        if asked.smoke:
            smoke(asked.prepared, device)
        else:
            run(
                asked.prepared, asked.out, asked.before, asked.minutes, asked.workers, device, not asked.plain
            )


if __name__ == "__main__":
    main()

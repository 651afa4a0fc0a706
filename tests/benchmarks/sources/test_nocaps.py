"""nocaps: COCO's format, and each domain by itself."""

import json

import numpy as np
import pytest

import karat
from karat.benchmarks import SOURCES

DOMAINS = ["near-domain", "in-domain", "out-domain", "near-domain"]


@pytest.fixture
def file(tmp_path):
    images = [
        {
            "id": n,
            "open_images_id": f"00{n}",
            "file_name": f"00{n}.jpg",
            "width": 4,
            "height": 4,
            "domain": domain,
        }
        for n, domain in enumerate(DOMAINS)
    ]
    annotations = [{"id": n, "image_id": n // 2, "caption": f"caption {n}"} for n in range(8)]
    path = tmp_path / "nocaps_val_4500_captions.json"
    path.write_text(json.dumps({"licenses": [], "info": {}, "images": images, "annotations": annotations}))
    return path


def test_a_domain_ranks_its_own_images_and_captions(file):
    bench = karat.load_benchmark("nocaps", file=file)
    assert SOURCES["nocaps"].recognise(file)
    assert list(bench.truths) == ["original", "in-domain", "near-domain", "out-domain"]
    assert bench.images.gallery.tolist() == [0, 1, 2, 3]
    near = bench.truth("near-domain")
    assert [(fold.name, fold.images.tolist(), fold.captions.tolist()) for fold in near.folds] == [
        ("near-domain", [0, 3], [0, 1, 6, 7])
    ]
    scores = np.random.default_rng(3).random((4, 8)).astype(np.float32)
    card = karat.evaluate(scores, bench, ["R@1"])
    # By hand, on the rows and columns of a domain alone.
    owner = np.arange(8) // 2
    for truth in ("near-domain", "in-domain", "original"):
        rows = np.flatnonzero([truth in ("original", domain) for domain in DOMAINS])
        columns = np.flatnonzero(np.isin(owner, rows))
        part = scores[np.ix_(rows, columns)]
        found = {
            "i2t": owner[columns[part.argmax(axis=1)]] == rows,
            "t2i": rows[part.argmax(axis=0)] == owner[columns],
        }
        for direction, hits in found.items():
            assert card.value("R@1", truth=truth, direction=direction) == hits.mean()


def test_a_file_without_domains(file):
    content = json.loads(file.read_text())
    del content["images"][2]["domain"]
    file.write_text(json.dumps(content))
    with pytest.raises(karat.KaratError, match=r"images\[2\] has no key 'domain'"):
        karat.load_benchmark("nocaps", file=file)

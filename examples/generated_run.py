"""Generate two systems' embeddings for COCO's test split and score them, as `make demo` does.

The systems are made up: each image gets a random vector, and each caption the vector of its image
plus noise. So they know the original pairs and nothing of meaning, and the truths that people
repaired, CxC and ECCV Caption, show it.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

import karat


def generate(folder: Path, name: str, noise: float, seed: int) -> list[str]:
    """Write the two embedding tables of one system and return their paths."""
    rng = np.random.default_rng(seed)
    coco = karat.load_benchmark("coco")
    images = rng.standard_normal((coco.images.size, 256), dtype=np.float32)
    captions = images[coco.caption_image]
    captions = captions + noise * rng.standard_normal(captions.shape, dtype=np.float32)
    paths = []
    for kind, table in (("images", images), ("captions", captions)):
        table /= np.linalg.norm(table, axis=1, keepdims=True)
        paths.append(folder / f"{name}-{kind}.npy")
        np.save(paths[-1], table)
    return [str(path) for path in paths]


def main() -> None:
    """Generate, then call the command line as a user would."""
    folder = Path("demo")
    folder.mkdir(exist_ok=True)
    files = generate(folder, "sharp", noise=4.5, seed=1) + generate(folder, "blurred", noise=6.0, seed=2)
    command = ["evaluate", *files, "--benchmark", "coco", "--names", "sharp", "blurred"]
    print("$ karat", *command, flush=True)
    sys.exit(subprocess.run([sys.executable, "-m", "karat", *command]).returncode)


if __name__ == "__main__":
    main()

"""A source of benchmarks."""

from karat.benchmarks import Benchmark, Source, build, register
from karat.measures import Param, whole


def load(images: int = 4) -> Benchmark:
    names = [f"{k}.jpg" for k in range(images)]
    captions = [f"caption-{k}" for k in range(images)]
    texts = [f"{'red' if k % 2 else 'blue'} ball number {k}" for k in range(images)]
    return build("toys", names, captions, names, texts, where="toys", about="coloured balls")


register(Source("toys", "coloured balls", load, (Param("images", whole, "how many", 4),)))

"""The name before version 0.5, `karat.systems`: it works and warns, and so do the renamed things."""

import importlib
import sys

import pytest

import karat.models
import karat.models.images
import karat.models.text

OLD = ("karat.systems", "karat.systems.images", "karat.systems.text")
NAMES = {
    "karat.systems": (
        "FUSIONS", "ImageTextModel", "IncompleteCholesky", "KCCA", "KCCAPath", "KernelCentrer",
        "NearestNeighbour", "Setting", "WordF1", "best_settings", "dev_scores", "fuse", "scale_diagonal",
    ),
    "karat.systems.images": (
        "ImageFeatures", "decode_image", "histogram_kernel", "intersection_kernel", "pyramid_kernel",
    ),
    "karat.systems.text": (
        "AlignmentSimilarity", "BagOfWords", "DistributionalSimilarity", "LinSimilarity", "MaxSimilarity",
        "MeanSimilarity", "Similarity", "TEXT_KERNELS", "TagRank", "TextKernel", "Trigram", "read_corpus",
        "tagged_words", "text_kernel",
    ),
}  # fmt: skip
"""What version 0.4 exported, `Rule` apart."""


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """Import the old name for the first time, and forget it afterwards."""
    for name in OLD:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.delattr(karat, "systems", raising=False)
    yield
    for name in OLD:
        sys.modules.pop(name, None)
    vars(karat).pop("systems", None)


@pytest.mark.parametrize("old", OLD)
def test_the_old_name_warns_and_gives_the_same(old):
    with pytest.warns(DeprecationWarning, match=r"karat\.systems is called karat\.models now"):
        module = importlib.import_module(old)
    new = importlib.import_module(old.replace("systems", "models"))
    for name in NAMES[old]:
        assert getattr(module, name) is getattr(new, name)


def test_statements_find_the_old_subpackages():
    with pytest.warns(DeprecationWarning, match=r"karat\.systems"):
        from karat.systems.images import ImageFeatures
    # It warns once.
    from karat.systems import KCCA, images
    from karat.systems.text import text_kernel

    assert KCCA is karat.models.KCCA
    assert images is karat.models.images
    assert ImageFeatures is karat.models.images.ImageFeatures
    assert text_kernel is karat.models.text.text_kernel


def test_what_is_not_there_is_named():
    with pytest.warns(DeprecationWarning, match=r"karat\.systems"):
        import karat.systems
    assert karat.systems.__all__ == karat.models.__all__
    with pytest.raises(AttributeError, match="no attribute 'Perceptron'"):
        karat.systems.Perceptron


def test_a_renamed_class_is_found_by_its_old_name():
    with pytest.warns(DeprecationWarning, match=r"karat\.models\.text\.Rule is called TagRule now"):
        from karat.models.text import Rule
    assert Rule is karat.models.text.TagRule

"""Pictures show what scenes say, at the same pixels everywhere; png files are read by others as written."""

import hashlib
import io
import itertools

import numpy as np
import pytest

from karat.errors import KaratError
from karat.world import make_world
from karat.world.pictures.backdrops import SCENERY, backdrop
from karat.world.pictures.picture import COLOUR_TONES, coverage, draw_picture, palette
from karat.world.pictures.png import encode_png, stored
from karat.world.pictures.shapes import HOLE, UNIT, rgb
from karat.world.scenes import SIDE, draw_scenes
from karat.world.vocabulary import BACKGROUNDS, COLOURS, KINDS

# Outline and rim, behind the tones of a drawing.
EDGE, RIM = 7, 8


def test_a_drawing_fills_its_box():
    wrong = []
    for kind, size in itertools.product(range(len(KINDS)), (0, 1)):
        counts = coverage(kind, size)
        samples = counts[0, 0].sum()
        solid = samples - counts[..., HOLE] - counts[..., RIM] > samples // 4
        rows, columns = np.flatnonzero(solid.any(axis=1)), np.flatnonzero(solid.any(axis=0))
        middle = len(counts) / 2
        for places, side in zip((columns, rows), KINDS[kind].box):
            begin, end = places[0], places[-1] + 1
            if abs(end - begin - side // (2 - size)) > 2 or abs((end + begin) / 2 - middle) > 1:
                wrong.append((KINDS[kind].name, size))
    assert wrong == []


def test_most_of_a_drawing_has_the_objects_colour():
    wrong = []
    for kind in range(len(KINDS)):
        counts = coverage(kind, 1).sum(axis=(0, 1))
        drawn = counts[1:EDGE].sum()
        if counts[1:4].sum() / drawn <= 0.6 or counts[1] != max(counts[1:EDGE]):
            wrong.append(KINDS[kind].name)
    assert wrong == []


def test_silhouettes_differ():
    shapes = [coverage(kind, 1)[..., HOLE] < 8 for kind in range(len(KINDS))]
    for k, one in enumerate(shapes):
        for other in shapes[:k]:
            assert (one & other).sum() / (one | other).sum() < 0.93


def test_colours_are_well_apart():
    main = {name: np.array(rgb(tones[0])) for name, tones in COLOUR_TONES.items()}
    for name, colour in main.items():
        for other in main:
            if other != name:
                assert np.abs(colour - main[other]).sum() >= 100, (name, other)
    assert {name: palette(name)[1].tolist() for name in COLOURS}["white"] == [255, 255, 255]


def test_a_picture_shows_each_object_where_it_is():
    scenes = draw_scenes(60, seed=9)
    for number in range(60):
        picture = draw_picture(scenes, number).astype(int)
        bare = backdrop(int(scenes.background[number]))
        changed = np.abs(picture - bare).sum(axis=2) > 60
        covered = np.zeros_like(changed)
        for k in range(scenes.ptr[number], scenes.ptr[number + 1]):
            left, top, wide, high = scenes.box[k]
            part = picture[top : top + high, left : left + wide]
            main = np.array(rgb(COLOUR_TONES[COLOURS[scenes.colour[k]]][0]))
            assert (np.abs(part - main).sum(axis=2) == 0).mean() > 0.08
            covered[max(top - 2, 0) : top + high + 2, max(left - 2, 0) : left + wide + 2] = True
        assert not (changed & ~covered).any()


def test_backgrounds_differ():
    pictures = [backdrop(number) for number in range(len(BACKGROUNDS))]
    for k, one in enumerate(pictures):
        for other in pictures[:k]:
            assert np.abs(one - other).mean() > 12


def test_nothing_in_the_field_stands_like_a_plant():
    """Tufts of grass would make "a plant" true of every field: all small things lie flat."""
    for colour, part in SCENERY["field"]():
        corners = np.concatenate([np.array(polygon) for polygon in part.polygons])
        wide, high = corners.max(axis=0) - corners.min(axis=0)
        if wide < UNIT * SIDE / 2 and colour != "#fff":  # hills are larger, clouds white
            assert wide > 4 * high, colour


def test_pillow_reads_what_is_written(rng):
    image = pytest.importorskip("PIL.Image")
    scenes = draw_scenes(30, seed=1)
    pictures = [draw_picture(scenes, number) for number in range(30)]
    pictures += [
        rng.integers(0, 256, (40, 33, 3), dtype=np.uint8),  # more than 256 colours
        rng.integers(0, 2, (5, 7, 3), dtype=np.uint8),  # few, but not of sixteen steps
        np.zeros((1, 1, 3), np.uint8),
        (rng.integers(0, 16, (300, 300, 3)) * 17).astype(np.uint8),  # several stored blocks
    ]
    for picture in pictures:
        data = encode_png(picture)
        with image.open(io.BytesIO(data)) as opened:
            opened.verify()
        with image.open(io.BytesIO(data)) as opened:
            np.testing.assert_array_equal(np.asarray(opened.convert("RGB")), picture)
    sizes = [len(encode_png(picture)) for picture in pictures[:30]]
    assert max(sizes) < 30_000


def test_stored_blocks_are_a_zlib_stream():
    import zlib

    for length in (0, 1, 65535, 65536, 200_000):
        data = bytes(range(251)) * (length // 251 + 1)
        assert zlib.decompress(stored(data[:length])) == data[:length]


def test_the_same_seed_gives_the_same_bytes():
    """These fingerprints must hold on every machine; a change of the generator changes them on purpose."""
    world = make_world(images=20, captions=5, seed=7)
    assert world.digest == GOLDEN_WORLD
    pictures = b"".join(encode_png(world.picture(number)) for number in range(20))
    assert hashlib.sha256(pictures).hexdigest() == GOLDEN_PICTURES
    assert make_world(images=20, captions=5, seed=7).digest == world.digest
    assert make_world(images=20, captions=5, seed=8).digest != world.digest


GOLDEN_WORLD = "cb5f6c443a725ced76bef248b2098a72258c617885c05659956abf4c4c01cd10"
GOLDEN_PICTURES = "5631053060ca9167b2ea1fffce188b0b8d16e74bf9bd93854f864a0f3ffc4e58"


def test_a_picture_that_does_not_exist():
    with pytest.raises(KaratError, match="numbered 0 to 2"):
        make_world(images=3, seed=1).picture(3)

"""Box and mask over the image: the drawing, its keys, and the verdicts that `karat estimate` takes."""

import json

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs the web: pip install 'karat[web]'")
pytest.importorskip("selenium", reason="needs selenium: pip install 'karat[test]'")
pytest.importorskip("pycocotools", reason="needs masks: pip install 'karat[masks]'")

from browser.annotators import Annotator
from cli.conftest import both, command  # noqa: F401
from karat.forms import AnswerRows
from made_instances import HEIGHT, write_instances
from web.servers import start

# Image and drawing on the screen: where the picture's pixels lie in the frame, and where the lines do.
PLACES = """
const frame = document.querySelector(arguments[0]);
const image = frame.querySelector("img"), lines = frame.querySelector("svg.region");
const at = image.getBoundingClientRect();
const scale = Math.min(at.width / image.naturalWidth, at.height / image.naturalHeight);
const left = at.x + (at.width - image.naturalWidth * scale) / 2;
const top = at.y + (at.height - image.naturalHeight * scale) / 2;
const rows = [".mask.line", ".box.line"].map((name) => {
  const line = lines.querySelector(name), box = line.getBBox(), m = line.getScreenCTM();
  return [box.x * m.a + m.e, box.y * m.d + m.f, box.width * m.a, box.height * m.d];
});
return rows.map(([x, y, w, h]) => [(x - left) / scale, (y - top) / scale, w / scale, h / scale]);
"""
SHOWN = "return getComputedStyle(document.querySelector('svg.region')).display"
READY = "return document.querySelector('.frame svg.region') !== null"


@pytest.fixture
def judged(tmp_path, command):  # noqa: F811
    """A server for the masks of a few made instances, all in one task without gold."""
    instances, detections, pictures = write_instances(tmp_path)
    project = tmp_path / "p.db"
    command(
        "detections",
        "pool",
        detections,
        "-b",
        instances,
        "--set",
        f"images={pictures}",
        "--gold",
        0,
        "-o",
        project,
    )
    command("project", "tasks", project, "--gold", 0, "--overlap", 1)
    server = start(project)
    yield server, instances, detections, project
    server.stop()


def test_masks_are_shown_and_vetted(browser, judged, pictures, tmp_path, command):  # noqa: F811
    server, path, detections, place = judged
    annotator = Annotator(browser, server, "mask judge").enter()
    known = json.loads(path.read_text(encoding="utf-8"))["annotations"]
    caption = [item.caption for item in server.project.queue.items(server.project.queue.held("mask judge"))]
    browser.wait(READY)

    def expected(instance):
        lengths = known[instance]["segmentation"]["counts"]
        xs, ys = np.divmod(np.flatnonzero(np.repeat(np.arange(len(lengths)) % 2, lengths)), HEIGHT)
        return [[xs.min(), ys.min(), np.ptp(xs) + 1, np.ptp(ys) + 1], known[instance]["bbox"]]

    np.testing.assert_allclose(browser.run(PLACES, ".frame"), expected(caption[0]), atol=0.1)
    annotator.press("o")
    assert browser.run(SHOWN) == "none"
    annotator.press("o", "z")
    browser.wait("return document.querySelector('dialog svg.region') !== null")
    np.testing.assert_allclose(browser.run(PLACES, "dialog .stage"), expected(caption[0]), atol=0.1)
    inside = "const b = document.querySelector('dialog .box.line').getBoundingClientRect();"
    assert browser.run(f"{inside} return b.x >= 0 && b.right <= innerWidth && b.width > 0.3 * innerWidth")
    browser.picture(pictures / "judging-mask-zoom.png")
    annotator.press("z")
    right = [instance % 3 != 2 for instance in caption]
    for number, answer in enumerate(right):
        browser.wait(READY)
        if number == 2:
            browser.picture(pictures / "judging-mask-1280.png")
            browser.set(390, False, 844)
            browser.picture(pictures / "judging-mask-390.png")
            browser.set(1280, False)
        np.testing.assert_allclose(browser.run(PLACES, ".frame"), expected(caption[number]), atol=0.1)
        annotator.press("a" if answer else "r")
    annotator.leave(1)
    assert not browser.complaints()
    command("project", "export", place, "--what", "approvals", "-o", tmp_path / "approved.csv")
    told = dict(line.split(",") for line in (tmp_path / "approved.csv").read_text().split()[1:])
    assert told == {str(100 + one): str(int(yes)) for one, yes in zip(caption, right)}
    scored = ["detections", "estimate", detections, "-b", path, "--estimator", "direct"]
    answered = [command(*scored, "--vetted", vetted) for vetted in (place, tmp_path / "approved.csv")]
    assert answered[0] == answered[1]
    assert f"{sum(right)} of {len(right)} instances have a vetted mask" in answered[0]
    # Another annotator disagrees about one mask: whoever decides sees it, too.
    one = caption[1]
    rows = AnswerRows([-1], [known[one]["image_id"] - 1], [one], ["other"], ["unsure"])
    server.project.answers.record(rows)
    Annotator(browser, server, "head", "owner").enter()
    browser.driver.get(f"{server.address}/adjudicate")
    browser.wait("return document.querySelector('#stage svg.region') !== null")
    np.testing.assert_allclose(browser.run(PLACES, "#stage"), expected(one), atol=0.1)
    browser.picture(pictures / "adjudicate-mask.png")

"""``karat detections``: the true AP of detected instances, in COCO's form."""

from karat.cli.command import group
from karat.cli.detections import estimate, pool, simulate

app = group("Estimate the true AP of detections from boxes and a few masks.", estimate, simulate, pool)

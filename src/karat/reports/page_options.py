"""What is on a page beside its result: a title, pictures, and how it was made."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from karat.errors import InputError, MissingDataError

MOST_INLINE = 10_000


@dataclass(frozen=True)
class PageOptions:
    """What is on a page beside its result; every verb that writes one takes it.

    Parameters
    ----------
    title
        Of the page.
    image_folder
        The folder that image files must lie in to be shown; by default the one that the benchmark's own files
        share.
    inline_images
        How many megabytes of small pictures go into the file; further ones are linked.
    command, made
        Shown in the methods: the command that made it, and when (now by default).

    Examples
    --------
    >>> PageOptions("Two systems on COCO").title
    'Two systems on COCO'
    """

    title: str | None = None
    image_folder: str | Path | None = None
    inline_images: float = 2.0
    command: str | None = None
    made: datetime = field(default_factory=lambda: datetime.now().astimezone())

    def __post_init__(self) -> None:
        if not 0 <= self.inline_images < MOST_INLINE:
            raise InputError(f"inline_images is {self.inline_images:g}", fix="give megabytes, 0 for none")
        if self.image_folder is not None and not Path(self.image_folder).is_dir():
            raise MissingDataError(
                "there is no such folder", where=self.image_folder, fix="give the folder of the images"
            )

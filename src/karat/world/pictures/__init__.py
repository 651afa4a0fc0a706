"""Pictures of scenes: shapes, a drawing of each kind of thing, backdrops, and the png file."""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.world.pictures.picture import draw_picture as draw_picture
    from karat.world.pictures.png import encode_png as encode_png

__all__, __getattr__, __dir__ = exports(__name__, __file__)

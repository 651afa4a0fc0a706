"""Pictures of scenes: shapes, a drawing of each kind of thing, backdrops, and the png file.

The drawings lie in `animals`, `vehicles`, `plants` and `things`: shapes in the order in which they are
painted. Coordinates run from 0 to 96, y downwards; the whole is stretched to the kind's box. MAIN is the
object's colour, SHADE and LIGHT are darker and lighter tones of it: they must cover most of the object, so
that its colour is plain to see.
"""

from typing import TYPE_CHECKING

from karat._util.lazy import exports

if TYPE_CHECKING:
    from karat.world.pictures.picture import draw_picture as draw_picture
    from karat.world.pictures.picture import encode_png as encode_png

__all__, __getattr__, __dir__ = exports(__name__, __file__)

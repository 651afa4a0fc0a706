"""A drawing for each kind: parts in the order in which they are painted.

Coordinates run from 0 to 96, y downwards; the whole is stretched to the kind's box. MAIN is the object's
colour, SHADE and LIGHT are darker and lighter tones of it: they must cover most of the object, so that its
colour is plain to see.
"""

from karat.world.drawings.animals import ANIMALS
from karat.world.drawings.plants import PLANTS
from karat.world.drawings.things import THINGS
from karat.world.drawings.vehicles import VEHICLES

DRAWINGS = ANIMALS | VEHICLES | PLANTS | THINGS

__all__ = ["DRAWINGS"]

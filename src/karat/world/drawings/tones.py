"""What parts of a drawing are painted with."""

HOLE, MAIN, SHADE, LIGHT, INK, WHITE, GLASS = range(7)
"""Nothing, the object's colour, darker, lighter, black, white, and window glass."""

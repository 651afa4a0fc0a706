"""Vehicles, from the side, driving right."""

from karat.world.pictures.shapes import GLASS, HOLE, INK, LIGHT, MAIN, SHADE, Shape, blob, line, oval, poly


def wheel(x: int, y: int, radius: int) -> tuple[Shape, ...]:
    """Return a tyre with its hub."""
    return (oval(INK, x, y, radius, radius), oval(LIGHT, x, y, radius / 2, radius / 2))


CAR = (
    blob(MAIN, "0,30 2,22 18,18 30,0 62,0 76,16 94,20 98,32 96,38 0,38", 2),
    poly(GLASS, "26,17 34,4 46,4 46,17"),
    poly(GLASS, "51,17 51,4 60,4 70,17"),
    line(SHADE, 2, "48,18 48,34"),
    line(SHADE, 3, "3,36 93,36"),
    oval(LIGHT, 92, 26, 3, 3),
    line(INK, 2, "53,23 58,23"),
    *wheel(22, 38, 10),
    *wheel(74, 38, 10),
)

TRUCK = (
    poly(MAIN, "0,0 60,0 60,46 0,46"),
    poly(SHADE, "0,40 60,40 60,46 0,46"),
    line(SHADE, 2, "20,4 20,38"),
    line(SHADE, 2, "40,4 40,38"),
    blob(MAIN, "62,46 62,12 80,12 90,26 97,30 97,46", 1),
    poly(GLASS, "68,27 68,17 78,17 85,27"),
    poly(SHADE, "59,40 65,40 65,46 59,46"),
    *wheel(16, 48, 10),
    *wheel(40, 48, 10),
    *wheel(79, 48, 10),
)

BICYCLE = (
    oval(MAIN, 20, 44, 20, 20),
    oval(HOLE, 20, 44, 15, 15),
    oval(MAIN, 76, 44, 20, 20),
    oval(HOLE, 76, 44, 15, 15),
    line(MAIN, 5, "20,44 36,18 66,18"),
    line(MAIN, 5, "20,44 46,46 66,16"),
    line(MAIN, 5, "46,46 34,10"),
    line(MAIN, 5, "76,44 64,6"),
    line(INK, 5, "26,9 40,9"),
    line(INK, 5, "64,5 74,3"),
    oval(INK, 46, 46, 5, 5),
    oval(INK, 20, 44, 3, 3),
    oval(INK, 76, 44, 3, 3),
)

BOAT = (
    line(INK, 4, "48,2 48,74"),
    poly(LIGHT, "52,2 90,62 52,62"),
    poly(MAIN, "44,10 44,62 10,62"),
    blob(MAIN, "0,70 96,70 90,84 82,96 16,96 6,84", 1),
    line(SHADE, 5, "6,76 90,76"),
)

AIRPLANE = (
    poly(SHADE, "40,26 22,4 34,4 62,28"),
    poly(MAIN, "4,30 0,2 12,4 26,30"),
    blob(MAIN, "0,28 30,24 80,24 98,34 96,44 76,50 30,48 8,40", 3),
    poly(SHADE, "2,32 -2,26 10,26 20,34"),
    blob(SHADE, "38,38 62,38 46,70 32,72 36,56", 1),
    poly(GLASS, "78,28 86,29 92,35 80,35"),
    *(oval(GLASS, x, 33, 2.5, 2.5) for x in range(28, 76, 8)),
)

HELICOPTER = (
    line(INK, 3, "18,2 94,2"),
    line(INK, 5, "56,2 56,16"),
    poly(MAIN, "40,22 4,20 4,28 42,38"),
    blob(MAIN, "0,8 8,8 12,24 4,30", 1),
    oval(SHADE, 4, 20, 5, 5),
    blob(MAIN, "34,24 50,12 74,12 90,28 90,42 76,50 48,50 36,40", 3),
    blob(GLASS, "66,17 74,17 86,30 86,35 66,35", 1),
    poly(GLASS, "50,20 61,20 61,34 50,34"),
    line(INK, 3, "52,50 50,58"),
    line(INK, 3, "72,50 74,58"),
    line(INK, 3, "38,60 88,60"),
)

VEHICLES = {
    "car": CAR,
    "truck": TRUCK,
    "bicycle": BICYCLE,
    "boat": BOAT,
    "airplane": AIRPLANE,
    "helicopter": HELICOPTER,
}

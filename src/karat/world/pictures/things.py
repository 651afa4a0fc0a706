"""Furniture, instruments, clothing, a house, and other things."""

from karat.world.pictures.shapes import (
    GLASS,
    HOLE,
    INK,
    LIGHT,
    MAIN,
    SHADE,
    WHITE,
    blob,
    curve,
    line,
    oval,
    poly,
)

CHAIR = (
    line(SHADE, 6, "32,58 32,88"),
    line(SHADE, 6, "66,58 66,88"),
    poly(MAIN, "20,0 30,0 30,60 20,60"),
    poly(MAIN, "68,0 78,0 78,60 68,60"),
    poly(MAIN, "20,6 78,6 78,18 20,18"),
    poly(MAIN, "20,26 78,26 78,36 20,36"),
    poly(MAIN, "12,50 86,50 90,64 8,64"),
    poly(MAIN, "10,64 20,64 20,98 10,98"),
    poly(MAIN, "78,64 88,64 88,98 78,98"),
    line(SHADE, 3, "12,62 86,62"),
)

TABLE = (
    line(SHADE, 6, "26,22 26,50"),
    line(SHADE, 6, "70,22 70,50"),
    poly(MAIN, "6,14 15,14 15,62 6,62"),
    poly(MAIN, "81,14 90,14 90,62 81,62"),
    poly(MAIN, "14,0 82,0 96,14 0,14"),
    poly(SHADE, "0,13 96,13 96,20 0,20"),
)

GUITAR = (
    line(SHADE, 9, "42,54 86,10"),
    blob(MAIN, "78,12 84,0 98,14 86,20", 1),
    oval(MAIN, 26, 70, 25, 25),
    oval(MAIN, 44, 52, 18, 18),
    blob(MAIN, "18,48 40,36 62,58 48,80", 2),
    oval(INK, 38, 58, 9, 9),
    line(INK, 5, "18,70 26,78"),
    line(LIGHT, 2, "22,74 88,8"),
)

DRUM = (
    line(INK, 4, "6,2 38,24"),
    line(INK, 4, "90,2 58,24"),
    blob(MAIN, "2,28 94,28 94,86 80,96 48,100 16,96 2,86", 2),
    line(SHADE, 6, "4,82 20,90 48,93 76,90 92,82"),
    line(WHITE, 3, "6,38 18,84 32,44 48,88 64,44 78,84 90,38"),
    oval(SHADE, 48, 28, 47, 15),
    oval(LIGHT, 48, 27, 41, 10),
    oval(INK, 38, 24, 4, 3),
    oval(INK, 58, 24, 4, 3),
)

HAT = (
    blob(MAIN, "20,44 24,8 36,0 48,6 60,0 72,8 76,44", 2),
    oval(MAIN, 48, 44, 48, 13),
    blob(SHADE, "21,34 75,34 76,44 48,50 20,44", 1),
)

SHIRT = (
    poly(MAIN, "32,0 64,0 96,20 84,42 72,34 72,88 24,88 24,34 12,42 0,20"),
    blob(SHADE, "32,-2 64,-2 58,14 38,14", 2),
    line(SHADE, 2.5, "24,34 24,48"),
    line(SHADE, 2.5, "72,34 72,48"),
    line(SHADE, 3, "26,84 70,84"),
)

HOUSE = (
    poly(SHADE, "68,4 80,4 80,34 68,34"),
    poly(MAIN, "8,34 88,34 88,92 8,92"),
    poly(SHADE, "48,2 98,40 -2,40"),
    poly(INK, "41,62 57,62 57,92 41,92"),
    poly(SHADE, "43,64 55,64 55,92 43,92"),
    poly(GLASS, "17,50 32,50 32,66 17,66"),
    poly(GLASS, "64,50 79,50 79,66 64,66"),
    line(INK, 1.5, "24,51 24,65"),
    line(INK, 1.5, "72,51 72,65"),
)

BALL = (
    oval(MAIN, 48, 48, 48, 48),
    blob(SHADE, "90,24 98,48 84,84 48,98 24,90 64,78 84,56", 3),
    curve(WHITE, 5, "14,16 60,40 60,94"),
    curve(WHITE, 5, "4,62 44,20 86,22"),
    oval(LIGHT, 26, 36, 6, 5),
)

UMBRELLA = (
    line(INK, 4, "48,0 48,84"),
    curve(INK, 4, "48,82 48,96 36,94"),
    curve(INK, 4, "36,94 30,92 31,86"),
    blob(MAIN, "0,52 2,22 24,6 48,4 72,6 94,22 96,52", 3),
    oval(HOLE, 15, 50, 15, 7),
    oval(HOLE, 48, 50, 15, 7),
    oval(HOLE, 81, 50, 15, 7),
    line(INK, 4, "48,44 48,84"),
    curve(SHADE, 3, "47,6 28,20 31,46"),
    curve(SHADE, 3, "49,6 68,20 65,46"),
)

BOOK = (
    poly(SHADE, "8,10 20,0 84,0 84,88 76,96 8,96"),
    poly(WHITE, "12,12 22,4 82,4 82,86 74,92 74,12"),
    line(INK, 1.5, "78,10 78,88"),
    line(INK, 1.5, "20,7 80,7"),
    poly(MAIN, "8,12 74,12 74,98 8,98"),
    poly(SHADE, "8,12 19,12 19,98 8,98"),
    poly(LIGHT, "28,24 66,24 66,46 28,46"),
    line(INK, 2.5, "34,31 60,31"),
    line(INK, 2.5, "38,39 56,39"),
)

CLOCK = (
    line(INK, 6, "26,84 16,96"),
    line(INK, 6, "70,84 80,96"),
    oval(SHADE, 22, 14, 15, 12),
    oval(SHADE, 74, 14, 15, 12),
    oval(MAIN, 48, 52, 43, 42),
    oval(LIGHT, 48, 52, 31, 30),
    *(line(INK, 3, ends) for ends in ("48,25 48,31", "48,73 48,79", "20,52 26,52", "70,52 76,52")),
    line(INK, 5, "48,52 48,34"),
    line(INK, 5, "48,52 62,60"),
)

CUP = (
    oval(SHADE, 40, 66, 44, 10),
    oval(MAIN, 74, 28, 20, 17),
    oval(HOLE, 73, 28, 10, 8),
    blob(MAIN, "6,4 76,4 72,50 62,66 20,66 10,50", 1),
    oval(MAIN, 41, 7, 35, 8),
    oval(INK, 41, 7, 29, 5),
    line(LIGHT, 4, "16,22 19,46"),
)

THINGS = {
    "chair": CHAIR,
    "table": TABLE,
    "guitar": GUITAR,
    "drum": DRUM,
    "hat": HAT,
    "shirt": SHIRT,
    "house": HOUSE,
    "ball": BALL,
    "umbrella": UMBRELLA,
    "book": BOOK,
    "clock": CLOCK,
    "cup": CUP,
}

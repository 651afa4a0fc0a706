"""Animals: most of them from the side, looking right."""

from karat.world.pictures.shapes import INK, LIGHT, MAIN, SHADE, WHITE, blob, curve, line, oval, poly

DOG = (
    curve(MAIN, 7, "16,46 4,42 6,20"),
    line(SHADE, 9, "30,56 28,82"),
    line(SHADE, 9, "64,56 66,82"),
    blob(MAIN, "12,42 30,34 54,38 70,34 76,50 70,64 40,62 22,66 12,58", 3),
    line(MAIN, 10, "22,56 19,82"),
    line(MAIN, 10, "58,56 57,82"),
    poly(MAIN, "54,44 62,22 82,34 72,56"),
    blob(MAIN, "58,14 70,8 82,14 86,22 96,24 98,32 92,38 74,38 60,34", 3),
    blob(SHADE, "58,10 68,10 68,26 62,42 52,38 52,22", 3),
    oval(INK, 94, 25, 4, 3.5),
    oval(WHITE, 77, 20, 4, 4),
    oval(INK, 78, 20, 2.5, 2.5),
    line(SHADE, 5, "59,44 74,48"),
)

CAT = (
    curve(MAIN, 9, "62,88 96,92 84,56"),
    blob(MAIN, "30,96 22,78 32,48 48,44 64,48 74,78 66,96", 3),
    poly(MAIN, "20,28 18,0 44,14"),
    poly(MAIN, "76,28 78,0 52,14"),
    poly(SHADE, "24,20 23,7 36,14"),
    poly(SHADE, "72,20 73,7 60,14"),
    oval(MAIN, 48, 32, 29, 23),
    line(SHADE, 3, "42,74 42,94"),
    line(SHADE, 3, "54,74 54,94"),
    oval(WHITE, 37, 28, 7, 7),
    oval(WHITE, 59, 28, 7, 7),
    oval(INK, 37, 28, 3, 6),
    oval(INK, 59, 28, 3, 6),
    poly(INK, "43,38 53,38 48,44"),
    line(INK, 2, "30,42 8,38"),
    line(INK, 2, "30,45 10,48"),
    line(INK, 2, "66,42 88,38"),
    line(INK, 2, "66,45 86,48"),
)

HORSE = (
    curve(SHADE, 9, "12,42 -4,48 2,76"),
    line(SHADE, 8, "30,60 34,94"),
    line(SHADE, 8, "62,60 64,94"),
    blob(MAIN, "6,40 20,34 44,40 62,34 74,42 72,62 56,68 38,64 20,68 6,58", 3),
    line(MAIN, 9, "18,58 20,76 16,94"),
    line(MAIN, 9, "56,60 54,78 57,94"),
    poly(MAIN, "52,46 64,16 82,22 74,52"),
    blob(MAIN, "62,16 74,8 86,14 100,36 96,46 86,44 76,32 64,30", 3),
    poly(MAIN, "70,12 73,0 79,12"),
    blob(SHADE, "48,44 52,28 62,10 72,6 72,14 66,24 62,40 56,50", 2),
    oval(WHITE, 82, 21, 3.5, 3.5),
    oval(INK, 82, 21, 2.5, 2.5),
    oval(INK, 94, 38, 1.5, 1.5),
    line(INK, 6, "14,95 20,95"),
    line(INK, 6, "55,95 61,95"),
    line(INK, 6, "33,95 38,95"),
    line(INK, 6, "63,95 68,95"),
)

BIRD = (
    line(INK, 3, "44,62 42,80 34,80"),
    line(INK, 3, "54,62 54,80 46,80"),
    poly(SHADE, "26,44 0,30 2,42 10,52 30,58"),
    blob(MAIN, "18,44 34,30 56,26 64,8 84,6 90,22 80,50 60,68 36,66 20,56", 3),
    poly(LIGHT, "84,14 104,22 84,28"),
    blob(SHADE, "24,40 42,32 62,38 56,54 40,58 28,54", 3),
    oval(WHITE, 77, 18, 4.5, 4.5),
    oval(INK, 78, 18, 2.75, 2.75),
)

FISH = (
    poly(SHADE, "26,30 0,10 6,32 0,54 26,36"),
    poly(SHADE, "40,14 58,0 72,14"),
    poly(SHADE, "46,52 58,64 66,50"),
    blob(MAIN, "16,34 34,12 62,6 86,16 98,32 86,50 62,58 34,54", 3),
    curve(SHADE, 3, "70,16 62,32 70,48"),
    curve(LIGHT, 3, "54,22 48,32 54,42"),
    curve(LIGHT, 3, "40,24 35,32 40,40"),
    oval(WHITE, 80, 26, 6, 6),
    oval(INK, 81, 26, 3.5, 3.5),
    line(INK, 2, "86,42 92,38"),
)

ELEPHANT = (
    curve(SHADE, 4, "8,36 0,44 2,60"),
    line(SHADE, 13, "30,58 30,80"),
    line(SHADE, 13, "56,58 56,80"),
    blob(MAIN, "4,40 14,20 40,14 62,20 70,40 66,62 40,66 12,64", 3),
    line(MAIN, 14, "18,58 17,80"),
    line(MAIN, 14, "48,58 46,80"),
    oval(MAIN, 72, 30, 17, 18),
    curve(MAIN, 11, "84,34 94,56 84,76"),
    curve(MAIN, 8, "84,76 86,86 96,80"),
    blob(WHITE, "76,46 82,46 92,58 84,56", 2),
    blob(SHADE, "50,16 62,10 72,22 68,46 58,56 48,42", 3),
    oval(INK, 80, 26, 2.75, 2.75),
    line(INK, 3, "13,87 23,87"),
    line(INK, 3, "41,87 51,87"),
)

RABBIT = (
    blob(MAIN, "26,42 16,16 24,-2 34,6 42,38", 3),
    blob(MAIN, "54,38 60,6 72,-2 80,16 70,42", 3),
    blob(SHADE, "28,36 22,16 26,8 32,14 37,36", 3),
    blob(SHADE, "59,36 64,14 70,8 74,16 68,36", 3),
    oval(MAIN, 48, 74, 27, 24),
    oval(MAIN, 48, 46, 25, 20),
    oval(LIGHT, 48, 80, 14, 15),
    oval(MAIN, 32, 94, 12, 6),
    oval(MAIN, 64, 94, 12, 6),
    oval(INK, 38, 42, 3, 4.5),
    oval(INK, 58, 42, 3, 4.5),
    poly(INK, "44,50 52,50 48,55"),
    oval(WHITE, 48, 59, 4, 4.5),
    line(INK, 1.5, "36,54 24,52"),
    line(INK, 1.5, "60,54 72,52"),
)

TURTLE = (
    poly(LIGHT, "12,48 -4,54 14,56"),
    blob(LIGHT, "66,38 76,22 90,18 98,28 94,38 82,42 74,54 66,56", 3),
    blob(LIGHT, "14,44 30,46 28,64 14,66", 2),
    blob(LIGHT, "54,46 70,44 72,66 58,64", 2),
    blob(MAIN, "6,52 8,28 24,8 46,2 66,8 78,30 78,52", 3),
    line(SHADE, 5, "10,50 74,50"),
    line(SHADE, 3, "32,14 30,30 18,46"),
    line(SHADE, 3, "54,12 56,30 68,46"),
    line(SHADE, 3, "30,30 56,30"),
    line(SHADE, 3, "42,30 42,48"),
    oval(INK, 87, 27, 2.5, 2.5),
    line(INK, 2, "88,36 94,34"),
)

BUTTERFLY = (
    curve(INK, 2.5, "47,22 42,6 30,2"),
    curve(INK, 2.5, "49,22 54,6 66,2"),
    blob(MAIN, "46,40 24,4 4,4 0,28 14,46 46,46", 3),
    blob(MAIN, "50,40 72,4 92,4 96,28 82,46 50,46", 3),
    blob(SHADE, "46,44 18,46 8,64 22,82 38,76 47,54", 3),
    blob(SHADE, "50,44 78,46 88,64 74,82 58,76 49,54", 3),
    oval(LIGHT, 18, 22, 9, 8),
    oval(LIGHT, 78, 22, 9, 8),
    oval(LIGHT, 26, 64, 6, 6),
    oval(LIGHT, 70, 64, 6, 6),
    line(INK, 7, "48,26 48,70"),
    oval(INK, 48, 24, 5, 5),
)

ANIMALS = {
    "dog": DOG,
    "cat": CAT,
    "horse": HORSE,
    "bird": BIRD,
    "fish": FISH,
    "elephant": ELEPHANT,
    "rabbit": RABBIT,
    "turtle": TURTLE,
    "butterfly": BUTTERFLY,
}

"""Plants and fruit."""

from karat.world.pictures.shapes import INK, LIGHT, MAIN, SHADE, blob, curve, line, oval, poly

TREE = (
    poly(SHADE, "42,96 44,56 52,56 54,96"),
    line(SHADE, 4, "48,70 62,54"),
    oval(MAIN, 28, 46, 24, 18),
    oval(MAIN, 68, 46, 24, 18),
    oval(MAIN, 48, 50, 22, 16),
    oval(MAIN, 36, 24, 22, 20),
    oval(MAIN, 62, 24, 20, 19),
    oval(MAIN, 48, 16, 18, 16),
    oval(LIGHT, 34, 22, 5, 4),
    oval(LIGHT, 58, 14, 5, 4),
    oval(LIGHT, 66, 40, 5, 4),
    oval(LIGHT, 24, 44, 5, 4),
    oval(LIGHT, 46, 38, 5, 4),
)

FLOWER = (
    curve(SHADE, 5, "48,44 52,70 46,96"),
    blob(SHADE, "50,82 60,66 80,62 74,78 58,86", 2),
    blob(SHADE, "48,90 40,74 20,70 24,84 40,92", 2),
    oval(MAIN, 48, 11, 11, 12),
    oval(MAIN, 48, 49, 11, 12),
    oval(MAIN, 31, 20, 12, 11),
    oval(MAIN, 65, 20, 12, 11),
    oval(MAIN, 31, 40, 12, 11),
    oval(MAIN, 65, 40, 12, 11),
    oval(MAIN, 48, 30, 17, 17),
    oval(INK, 48, 30, 11, 11),
    oval(LIGHT, 48, 30, 8.5, 8.5),
)

CACTUS = (
    line(MAIN, 24, "48,12 48,84"),
    poly(MAIN, "36,60 60,60 60,96 36,96"),
    line(MAIN, 14, "48,66 18,66 18,36"),
    line(MAIN, 14, "48,54 78,54 78,24"),
    line(SHADE, 3, "42,12 42,92"),
    line(LIGHT, 3, "54,12 54,92"),
    line(SHADE, 2.5, "18,36 18,64"),
    line(SHADE, 2.5, "78,24 78,52"),
)

APPLE = (
    curve(INK, 5, "48,30 48,14 56,2"),
    blob(SHADE, "52,18 62,4 82,4 76,18 60,22", 2),
    blob(MAIN, "48,26 30,14 6,22 2,54 16,86 36,98 48,92 60,98 80,86 94,54 90,22 66,14", 3),
    curve(LIGHT, 6, "14,56 12,38 26,32"),
)

BANANA = (
    blob(MAIN, "0,8 6,0 14,4 18,20 40,42 66,46 88,34 98,36 98,46 80,66 52,74 26,64 8,44 2,22", 3),
    curve(SHADE, 4, "10,20 34,66 86,46"),
    line(INK, 6, "5,3 8,6"),
    line(INK, 6, "93,40 95,42"),
)

PEAR = (
    curve(INK, 5, "48,22 46,10 54,0"),
    blob(SHADE, "52,14 62,2 80,6 74,16 60,20", 2),
    blob(MAIN, "48,12 62,16 66,36 84,58 84,84 66,98 30,98 12,84 12,58 30,36 34,16", 3),
    curve(LIGHT, 6, "24,78 22,62 34,52"),
)

PLANTS = {
    "tree": TREE,
    "flower": FLOWER,
    "cactus": CACTUS,
    "apple": APPLE,
    "banana": BANANA,
    "pear": PEAR,
}

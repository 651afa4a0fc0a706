"""The ratings of Crisscrossed Captions, aggregated or raw, and what is refused."""

import pytest

import karat


def test_wrong_ratings(tmp_path):
    path = tmp_path / "sits.csv"
    good = "caption,image,agg_score,sampling_method\n"
    for text, message in (
        (None, "there is no such file"),
        ("a,b\n1,2\n", "has no column 'caption'"),
        ("", "is not a csv table"),
        (good, "has no rows"),
        (good + "1,2,3,4\n", "image id 2 is not in the benchmark"),
        (good + f"x:{'9' * 30},y_000391895.jpg,2.5,m\n", "row 2 has no readable caption"),
        (good + "x:1,y_000391895.jpg,2.5,m\n", "caption id 1 is not in the benchmark"),
        (good + "x:770337,nothing,2.5,m\n", "row 2 has no readable image"),
        (good + "x:770337,y_000391895.jpg,high,m\n", "row 2 has no readable agg_score"),
        (good + "x:770337,y_000391895.jpg,7,m\n", "outside 0 to 5"),
    ):
        if text is not None:
            path.write_text(text)
        with pytest.raises(karat.KaratError, match=message):
            karat.load_benchmark("coco", cxc_ratings=path)


def test_raw_ratings_are_averaged(tmp_path, coco):
    path = tmp_path / "sits_test_raw.csv"
    names = ("x:770337,y_000000391895.jpg", "x:771687,y_000000391895.jpg")
    rows = [
        f"{name},{score},c2i_original"
        for name, scores in zip(names, ((5, 4, 3), (1, 2, 5)))
        for score in scores
    ]
    path.write_text("caption,image,score,sampling_method\n" + "\n".join(rows) + "\n")
    rated = karat.load_benchmark("coco", cxc_ratings=path).truth("cxc").judgments
    assert rated.rating.tolist() == [4, pytest.approx(8 / 3)]
    assert rated.grade.tolist() == [1, 0]

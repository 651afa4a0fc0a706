"""M-BEIR: both directions of a task between images and captions."""

import json

import pytest

import karat


def write(folder, task, queries, candidates, qrels):
    for name, text in (
        (f"query/test/mbeir_{task}_test.jsonl", "".join(json.dumps(row) + "\n" for row in queries)),
        (
            f"cand_pool/local/mbeir_{task}_test_cand_pool.jsonl",
            "".join(json.dumps(row) + "\n" for row in candidates),
        ),
        (f"qrels/test/mbeir_{task}_test_qrels.txt", qrels),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def query(qid, kind, **more):
    row = {"qid": qid, "query_txt": None, "query_img_path": None, "query_modality": kind}
    return {
        **row,
        "query_src_content": None,
        "pos_cand_list": ["9:1"],
        "neg_cand_list": [],
        "task_id": 0,
        **more,
    }


def candidate(did, kind, **more):
    return {"txt": None, "img_path": None, "modality": kind, "did": did, "src_content": None, **more}


@pytest.fixture
def folder(tmp_path):
    image = "mbeir_images/mscoco_images/val2014/COCO_val2014_000000391895.jpg"
    write(
        tmp_path,
        "mscoco_task0",
        [query(f"9:{n}", "text", query_txt=f"a man {n}") for n in (1, 2, 3)],
        [candidate("9:1", "image", img_path=image), candidate("9:2", "image", img_path="mbeir_images/b.jpg")],
        "9:1 0 9:1 1 0\n9:2 0 9:1 1 0\n9:3 0 9:2 1 0\n",
    )
    write(
        tmp_path,
        "mscoco_task3",
        [query("9:9", "image", query_img_path=image)],
        [candidate(f"9:{n}", "text", txt=f"a man {n}") for n in (3, 4)],
        "9:9 0 9:3 1 3\n9:9 0 9:4 1 3\n",
    )
    return tmp_path


def test_both_directions_of_a_task(folder):
    to_image = karat.load_benchmark(folder)
    assert to_image.images.gallery.tolist() == ["9:1", "9:2"]
    assert to_image.texts == ["a man 1", "a man 2", "a man 3"]
    assert to_image.summary()[0]["t2i"] == {"queries": 3, "positives": 3, "negatives": 0, "off_gallery": 0}
    to_text = karat.load_benchmark(folder, task="mscoco_task3")
    assert (to_text.name, to_text.texts) == ("mbeir-mscoco_task3", ["a man 3", "a man 4"])
    assert to_text.summary()[0]["i2t"]["positives"] == 2
    assert to_text.summary()[0]["t2i"]["queries"] == 0
    (folder / "mbeir_images" / "mscoco_images" / "val2014").mkdir(parents=True)
    picture = folder / "mbeir_images" / "mscoco_images" / "val2014" / "COCO_val2014_000000391895.jpg"
    picture.write_bytes(b"")
    assert karat.load_benchmark(folder, task="mscoco_task3", images=folder).image_paths == [str(picture)]


def test_wrong_tasks(folder):
    with pytest.raises(
        karat.KaratError, match=r"there is no query/test/mbeir_mscoco_test\.jsonl; it has mbeir_mscoco_task0"
    ):
        karat.load_benchmark(folder, task="mscoco")
    mixed = [query("1:1", "image,text", query_txt="x", query_img_path="y")]
    write(folder, "fashioniq_task7", mixed, [candidate("1:1", "image")], "1:1 0 1:1 1 7\n")
    with pytest.raises(
        karat.KaratError, match="row 1 has the query_modality 'image,text'; choose a task between"
    ):
        karat.load_benchmark(folder, task="fashioniq_task7")
    write(folder, "nights_task4", [query("1:1", "image")], [candidate("1:1", "image")], "1:1 0 1:1 1 4\n")
    with pytest.raises(karat.KaratError, match="its candidates are image, as its queries"):
        karat.load_benchmark(folder, task="nights_task4")
    (folder / "qrels" / "test" / "mbeir_mscoco_task0_test_qrels.txt").write_text("9:1 0 9:1 1\n")
    with pytest.raises(karat.KaratError, match="row 1 is '9:1 0 9:1 1'; write `query 0 item relevance task`"):
        karat.load_benchmark(folder)

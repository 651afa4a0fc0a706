"""The example of the page: SAM in a fine-tuning loop that knows nothing of karat."""

import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'karat[train]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'karat[sentences]'")

PAGE = Path(__file__).parents[2] / "docs" / "train-losses.md"
CAPTIONS = [
    ["a black dog runs on the beach", "the dog runs by the sea"],
    ["two men sit on a bench in the park", "men on a bench"],
    ["a man runs on the beach with a dog", "a man and his dog"],
    ["a red bus stops here", "the bus is red"],
]


def tiny_clip():
    from transformers.models.clip import CLIPConfig, CLIPModel

    torch.manual_seed(0)
    small = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    text = {**small, "vocab_size": 60, "max_position_embeddings": 10, "eos_token_id": 1}
    vision = {**small, "image_size": 8, "patch_size": 4}
    return CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=16))


def test_the_example_trains_a_clip():
    model, device = tiny_clip(), "cpu"
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    words = sorted({word for group in CAPTIONS for text in group for word in text.split()})
    tokens = torch.ones(8, 10, dtype=torch.long)
    for row, text in enumerate(text for group in CAPTIONS for text in group):
        tokens[row, : len(text.split())] = torch.tensor([2 + words.index(word) for word in text.split()])
    pictures = torch.randn(4, 3, 8, 8)

    def batch(caption):
        numbers = torch.tensor(caption)
        return {"input_ids": tokens[numbers], "pixel_values": pictures[numbers // 2]}, numbers // 2, numbers

    steps = []
    names = {"captions": CAPTIONS, "model": model, "device": device, "optimizer": optimizer}
    names["loader"] = 15 * [batch([0, 3, 4, 7]), batch([1, 2, 5, 6]), batch([0, 1, 4, 6])]
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL).group(1)
    code = code.replace("value.backward()", "value.backward(); steps.append(value.item())")
    exec(code, names | {"steps": steps})
    assert len(steps) == 45
    assert sum(steps[-3:]) < 0.7 * sum(steps[:3])

"""A kind of model."""

from karat.models import Encoder, Scheme, register_encoder


def load(letters: str) -> Encoder:
    return Encoder(letters, texts=lambda texts: [[1.0, *map(text.count, letters)] for text in texts])


register_encoder(Scheme("letters", "letters:LETTERS", "how often each letter occurs", load))

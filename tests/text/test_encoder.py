"""An encoder of sentences has a say when types are found, and none afterwards."""

import json
import math

import numpy as np
import pytest

import elision as el
from elision.errors import ElisionError, FileFormatError, InputError
from elision.evaluate import events as measured
from elision.text._tensors import read_tensors
from elision.text.bert import BertEncoder

SIZE, HEADS, LAYERS, INNER = 8, 2, 2, 16
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "open", "the", "door", "leave", "house", "##s"]


def tokenizer():
    """The way BERT's tokenizers are written down."""
    return {
        "version": "1.0",
        "truncation": {
            "direction": "Right",
            "max_length": 4,
            "strategy": "LongestFirst",
            "stride": 0,
        },
        "padding": None,
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
            ],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}],
            "special_tokens": {
                "[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
                "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]},
            },
        },
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {word: number for number, word in enumerate(WORDS)},
        },
    }


def tensors(seed=0):
    """Random weights of the shapes that a BERT model has."""
    shapes = {
        "embeddings.word_embeddings.weight": (len(WORDS), SIZE),
        "embeddings.position_embeddings.weight": (12, SIZE),
        "embeddings.token_type_embeddings.weight": (2, SIZE),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}."
        for part in ("attention.self.query", "attention.self.key", "attention.self.value"):
            shapes |= {f"{name}{part}.weight": (SIZE, SIZE), f"{name}{part}.bias": (SIZE,)}
        for part, rows, columns in (
            ("attention.output.dense", SIZE, SIZE),
            ("intermediate.dense", INNER, SIZE),
            ("output.dense", SIZE, INNER),
        ):
            shapes |= {f"{name}{part}.weight": (rows, columns), f"{name}{part}.bias": (rows,)}
        norms += [f"{name}attention.output.LayerNorm", f"{name}output.LayerNorm"]
    for name in norms:
        shapes |= {f"{name}.weight": (SIZE,), f"{name}.bias": (SIZE,)}
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def safetensors(arrays):
    """Bytes of a file of tensors."""
    header, body = {"__metadata__": {"format": "pt"}}, b""
    for name, array in arrays.items():
        content = array.tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(array.shape),
            "data_offsets": [len(body), len(body) + len(content)],
        }
        body += content
    head = json.dumps(header).encode()
    return len(head).to_bytes(8, "little") + head + body


@pytest.fixture
def folder(tmp_path):
    """A small model."""
    place = tmp_path / "model"
    (place / "1_Pooling").mkdir(parents=True)
    config = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS,
        "max_position_embeddings": 12,
    }
    (place / "config.json").write_text(json.dumps(config))
    (place / "tokenizer.json").write_text(json.dumps(tokenizer()))
    (place / "model.safetensors").write_bytes(safetensors(tensors()))
    pooling = {"pooling_mode_mean_tokens": True}
    (place / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return place


def naive(ids, weights, by_mean=True):
    """The model as the papers have it, number by number, one piece at a time."""

    def linear(vector, name):
        matrix, bias = weights[name + ".weight"], weights[name + ".bias"]
        return [
            sum(float(m) * v for m, v in zip(row, vector, strict=True)) + float(b)
            for row, b in zip(matrix, bias, strict=True)
        ]

    def normed(vector, name):
        mean = sum(vector) / len(vector)
        variance = sum((value - mean) ** 2 for value in vector) / len(vector)
        scale, shift = weights[name + ".weight"], weights[name + ".bias"]
        return [
            (value - mean) / math.sqrt(variance + 1e-12) * float(s) + float(b)
            for value, s, b in zip(vector, scale, shift, strict=True)
        ]

    def added(*vectors):
        return [math.fsum(map(float, values)) for values in zip(*vectors, strict=True)]

    words = weights["embeddings.word_embeddings.weight"]
    places = weights["embeddings.position_embeddings.weight"]
    kind = weights["embeddings.token_type_embeddings.weight"][0]
    states = [
        normed(added(words[piece], places[at], kind), "embeddings.LayerNorm")
        for at, piece in enumerate(ids)
    ]
    part = SIZE // HEADS
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}."
        asked, keys, values = (
            [linear(state, f"{name}attention.self.{which}") for state in states]
            for which in ("query", "key", "value")
        )
        after = []
        for at, state in enumerate(states):
            joined = []
            for head in range(HEADS):
                of = slice(head * part, (head + 1) * part)
                scores = [
                    sum(a * b for a, b in zip(asked[at][of], key[of], strict=True))
                    / math.sqrt(part)
                    for key in keys
                ]
                powers = [math.exp(score) for score in scores]
                shares = [power / sum(powers) for power in powers]
                joined += [
                    sum(s * value[of][k] for s, value in zip(shares, values, strict=True))
                    for k in range(part)
                ]
            mixed = added(linear(joined, name + "attention.output.dense"), state)
            mixed = normed(mixed, name + "attention.output.LayerNorm")
            inner = [
                value * 0.5 * (1 + math.erf(value / math.sqrt(2)))
                for value in linear(mixed, name + "intermediate.dense")
            ]
            after.append(
                normed(
                    added(linear(inner, name + "output.dense"), mixed), name + "output.LayerNorm"
                )
            )
        states = after
    pooled = [sum(column) / len(states) for column in zip(*states, strict=True)]
    pooled = pooled if by_mean else states[0]
    length = math.sqrt(sum(value * value for value in pooled))
    return [value / length for value in pooled]


SENTENCES = ["Open the doors", "leave", "open the door. Leave the house", "zzz"]
PIECES = [[2, 4, 5, 6, 9, 3], [2, 7, 3], [2, 4, 5, 6, 1, 7, 5, 8, 3], [2, 1, 3]]


@pytest.mark.parametrize("by_mean", [True, False])
def test_the_model_is_the_one_of_the_papers(folder, by_mean):
    """Sentences are not cut to what the tokenizer was trained with."""
    if not by_mean:
        pooling = {"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    found = BertEncoder(folder).encode(SENTENCES)
    expected = [naive(ids, tensors(), by_mean) for ids in PIECES]
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5)


def test_a_sentence_is_the_same_alone_and_in_company(folder):
    """Up to the last digits: products of larger tables add in another order."""
    encoder = BertEncoder(folder)
    alone = np.vstack([encoder.encode([sentence]) for sentence in SENTENCES])
    np.testing.assert_allclose(encoder.encode(SENTENCES), alone, rtol=0, atol=1e-6)


def test_very_long_sentences_are_cut_to_what_the_model_has_places_for(folder):
    encoder = BertEncoder(folder)
    long, longer = encoder.encode(["open " * 40, "open " * 50])
    np.testing.assert_array_equal(long, longer)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("config.json", None, "no config.json there, expected the folder of a sentence encoder"),
        ("config.json", b"{", "config.json is damaged"),
        ("config.json", b"[]", "a model of the kind None with None, expected bert with gelu"),
        ("config.json", b'{"model_type": "t5"}', "a model of the kind t5"),
        (
            "config.json",
            b'{"model_type": "bert", "hidden_act": "gelu"}',
            "(KeyError: 'num_attention_heads')",
        ),
        ("tokenizer.json", b"{}", "not the files of a sentence encoder (ValueError: tokenizer"),
        ("tokenizer.json", None, "FileNotFoundError"),
        ("model.safetensors", b"", "not the files of a sentence encoder (ValueError: "),
        ("model.safetensors", b"\xff" * 20, "its header is cut off"),
        ("model.safetensors", (2).to_bytes(8, "little") + b"[]", "no table of tensors"),
        ("model.safetensors", (2).to_bytes(8, "little") + b"{}", "KeyError"),
        ("1_Pooling/config.json", b"{}", "neither of the mean nor of the first piece"),
    ],
)
def test_what_is_wrong_with_a_folder_is_said_in_one_line(folder, name, content, said):
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    with pytest.raises(FileFormatError) as error:
        BertEncoder(folder)
    assert said in str(error.value)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({"dtype": "F32", "shape": [2], "data_offsets": [0, 80]}, "lies outside of it"),
        ({"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}, "another size than it says"),
    ],
)
def test_tensors_that_do_not_fit_their_file(tmp_path, about, said):
    head = json.dumps({"a": about}).encode()
    path = tmp_path / "one.safetensors"
    path.write_bytes(len(head).to_bytes(8, "little") + head + bytes(8))
    with pytest.raises(ValueError, match=said):
        read_tensors(path)


class Meanings:
    """Knows which sentences tell the same, whatever their words are."""

    def __init__(self, alike):
        self.alike = alike
        self.asked = []

    def encode(self, sentences, /):
        self.asked += sentences
        groups = sorted(set(self.alike.values()))
        return np.eye(len(groups))[[groups.index(self.alike[one]) for one in sentences]]


ALIKE = {"hop off": 0, "get out of the bus": 0, "pay the driver": 1, "hand over coins": 1}
TELLINGS = [["pay the driver", "hop off"], ["hand over coins", "get out of the bus"]] * 2


def test_an_encoder_that_knows_better_is_listened_to():
    """One that sees the labels brings types nearer to them than words do."""
    told = measured.own_tellings().domain("making tea")
    gold = [event for events in told.events for event in events]
    alike = dict(zip((one for steps in told.steps for one in steps), gold, strict=True))

    def agreement(encoder):
        found = el.EventExtractor(vectors=False, rare="keep", encoder=encoder).fit(told)
        return measured.b_cubed(gold, [one for row in found.labels_ for one in row]).f1

    assert agreement(Meanings(alike)) > agreement(None) + 0.1


def test_it_is_not_needed_afterwards(tmp_path):
    """New sentences are mapped by words, also from a file."""
    encoder = Meanings(ALIKE)
    found = el.EventExtractor(vectors=False, rare="keep", encoder=encoder).fit(TELLINGS)
    before = list(encoder.asked)
    asked = [["get out of a bus", "pay a driver"]]
    answer = found.predict(asked)
    assert encoder.asked == before
    found.save(tmp_path / "types.json")
    again = el.EventExtractor.load(tmp_path / "types.json")
    assert again.encoder is None
    assert again.predict(asked) == answer == [[found.labels_[0][1], found.labels_[0][0]]]


@pytest.mark.parametrize("rows", [[[1.0]], [1.0] * 4, [[math.nan]] * 4, [[]]])
def test_vectors_of_no_use(rows):
    class Broken:
        def encode(self, sentences, /):
            return rows

    with pytest.raises(InputError, match="expected one finite vector each"):
        el.EventExtractor(vectors=False, encoder=Broken()).fit(TELLINGS)


def test_sentences_without_direction():
    """All alike: there is nothing to tell them apart by but their words."""

    class Same:
        def encode(self, sentences, /):
            return np.ones((len(sentences), 3))

    found = el.EventExtractor(vectors=False, rare="keep", encoder=Same()).fit(TELLINGS)
    words = el.EventExtractor(vectors=False, rare="keep").fit(TELLINGS)
    assert found.labels_ == words.labels_


def test_what_is_no_encoder():
    with pytest.raises(ElisionError, match="expected a folder or an object with encode"):
        el.EventExtractor(encoder=12).fit(TELLINGS)


def test_types_are_measured_with_it(folder, capsys, tmp_path):
    """`python -m elision.evaluate.events --encoder`."""
    rows = [
        {"domain": "bus", "id": str(at), "steps": steps, "events": ["a", "b"]}
        for at, steps in enumerate(TELLINGS)
    ]
    path = tmp_path / "tellings.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert measured.main([str(path), "--encoder", str(folder)]) == 0
    assert "| mixed, encoder | " in capsys.readouterr().out
    assert measured.main([str(path), "--encoder", str(tmp_path)]) == 2
    assert "expected the folder of a sentence encoder" in capsys.readouterr().err

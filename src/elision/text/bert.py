"""A neural encoder of sentences (BERT), run by numpy from the files of its folder.

Nothing is downloaded: the folder is the user's. Sentences are short, so the model needs no other
library than those that are here anyway.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elision._files import shown_path
from elision.errors import FileFormatError, InputError
from elision.text._tensors import read_tensors

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

__all__ = ["BertEncoder"]

_TOGETHER = 32  # sentences of one length that go through the model at a time
_EPSILON = 1e-12
_POOLING = Path("1_Pooling") / "config.json"
_BY_MEAN, _BY_FIRST = "pooling_mode_mean_tokens", "pooling_mode_cls_token"


class BertEncoder:
    """A BERT model of sentences, from the files of its folder.

    Parameters
    ----------
    folder
        With ``config.json``, ``tokenizer.json``, ``model.safetensors`` and, unless the vector of a
        sentence is the mean of its pieces, ``1_Pooling/config.json``: the layout of
        sentence-transformers, for example of all-MiniLM-L6-v2.

    Raises
    ------
    InputError
        If the package ``tokenizers`` is not installed.
    FileFormatError
        If a file is missing or damaged, or the model is of another kind.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        where = shown_path(folder)
        config = self._settings("config.json", where)
        if config.get("model_type") != "bert" or config.get("hidden_act") != "gelu":
            kind = f"{config.get('model_type')} with {config.get('hidden_act')}"
            problem = f"a model of the kind {kind:.40}, expected bert with gelu"
            raise FileFormatError(
                problem, where=where, hint="give an object with encode(sentences)"
            )
        try:
            self._heads = int(config["num_attention_heads"])
            self._layers = int(config["num_hidden_layers"])
            self._longest = int(config["max_position_embeddings"])
            self._epsilon = float(config.get("layer_norm_eps", _EPSILON))
            found = read_tensors(self._folder / "model.safetensors")
            self._tensors = {name.removeprefix("bert."): one for name, one in found.items()}
            self._tokenizer = self._opened_tokenizer()
            self._by_mean = self._pools_by_mean(where)
            self.encode(["."])  # all that is needed is there, and of the sizes that go together
        except (KeyError, TypeError, ValueError, IndexError, OSError) as error:
            said = " ".join(str(error).split())[:120]
            problem = f"not the files of a sentence encoder ({type(error).__name__}: {said})"
            raise FileFormatError(problem, where=where) from None

    def encode(self, sentences: list[str], /) -> NDArray[np.float32]:
        """Return one vector a sentence, each of length 1."""
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 - only where sentences are read

        pieces = [one.ids[: self._longest] for one in self._tokenizer.encode_batch(list(sentences))]
        vectors = np.zeros((len(pieces), self._tensor("embeddings.LayerNorm.weight").shape[0]))
        by_length: dict[int, list[int]] = {}
        for at, ids in enumerate(pieces):
            by_length.setdefault(len(ids), []).append(at)
        # On one thread sums have one order, so the same sentences get the same bits everywhere.
        with threadpool_limits(1, user_api="blas"):
            for same in by_length.values():
                for begin in range(0, len(same), _TOGETHER):
                    some = same[begin : begin + _TOGETHER]
                    vectors[some] = self._pooled(np.array([pieces[at] for at in some]))
        lengths = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
        return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), np.float32)

    # --- the model ------------------------------------------------------------------------------

    def _pooled(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Run sentences of one length through the model, shape (sentences, size)."""
        state = self._tensor("embeddings.word_embeddings.weight")[ids]
        state = state + self._tensor("embeddings.position_embeddings.weight")[: ids.shape[1]]
        state = state + self._tensor("embeddings.token_type_embeddings.weight")[0]
        state = self._normed(state, "embeddings.LayerNorm")
        for layer in range(self._layers):
            state = self._layer(state, f"encoder.layer.{layer}.")
        pooled: NDArray[np.float32] = state.mean(axis=1) if self._by_mean else state[:, 0]
        return pooled

    def _layer(self, state: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        mixed = self._attention(state, name + "attention.self.")
        mixed = self._linear(mixed, name + "attention.output.dense")
        state = self._normed(mixed + state, name + "attention.output.LayerNorm")
        inner = _gelu(self._linear(state, name + "intermediate.dense"))
        inner = self._linear(inner, name + "output.dense")
        return self._normed(inner + state, name + "output.LayerNorm")

    def _attention(self, state: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        sentences, length, size = state.shape
        split = (sentences, length, self._heads, size // self._heads)
        query, key, value = (
            self._linear(state, name + part).reshape(split).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(math.sqrt(split[-1]))
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        joined: NDArray[np.float32] = (shares @ value).transpose(0, 2, 1, 3).reshape(state.shape)
        return joined

    def _linear(self, rows: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        result: NDArray[np.float32] = rows @ self._tensor(name + ".weight").T
        return result + self._tensor(name + ".bias")

    def _normed(self, rows: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        centred = rows - rows.mean(axis=-1, keepdims=True)
        variance = (centred * centred).mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt(variance + np.float32(self._epsilon))
        result: NDArray[np.float32] = scaled * self._tensor(name + ".weight")
        return result + self._tensor(name + ".bias")

    def _tensor(self, name: str) -> NDArray[np.float32]:
        return np.asarray(self._tensors[name], np.float32)

    # --- files ----------------------------------------------------------------------------------

    def _settings(self, name: str | Path, where: str) -> dict[str, Any]:
        try:
            found = json.loads((self._folder / name).read_bytes())
        except OSError:
            problem = f"no {name} there, expected the folder of a sentence encoder"
            raise FileFormatError(problem, where=where) from None
        except ValueError:
            raise FileFormatError(f"{name} is damaged", where=where) from None
        return found if isinstance(found, dict) else {}

    def _pools_by_mean(self, where: str) -> bool:
        if not (self._folder / _POOLING).exists():
            return True
        modes = self._settings(_POOLING, where)
        if modes.get(_BY_MEAN):
            return True
        if modes.get(_BY_FIRST):
            return False
        raise ValueError("a vector neither of the mean nor of the first piece")

    def _opened_tokenizer(self) -> Any:
        try:
            from tokenizers import Tokenizer  # noqa: PLC0415 - comes with the extra `vectors`
        except ImportError:
            raise InputError(
                "an encoder needs tokenizers", hint="pip install 'elision[vectors]'"
            ) from None
        content = (self._folder / "tokenizer.json").read_text(encoding="utf-8")
        try:
            tokenizer = Tokenizer.from_str(content)
        except Exception as error:  # noqa: BLE001 - the library's errors have no type of their own
            raise ValueError(f"tokenizer.json: {error}") from None
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer


def _gelu(values: NDArray[np.float32]) -> NDArray[np.float32]:
    from scipy.special import erf  # noqa: PLC0415 - slow to load

    result: NDArray[np.float32] = values * (0.5 + 0.5 * erf(values / np.float32(math.sqrt(2.0))))
    return result

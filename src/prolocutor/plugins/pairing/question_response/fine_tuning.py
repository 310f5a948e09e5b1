"""Fine-tuning of a cross-encoder with PyTorch; what it makes is served without PyTorch.

The base is a folder as transformers saves it. Each question is a list of its answers: all that
have votes, and some that have none, the ones that the model believes in first (hard negatives).
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer
from transformers.utils import logging as transformers_logging

from prolocutor.errors import ConfigError
from prolocutor.plugins.pairing.question_response.pair_lists import LONGEST_PAIR, Pair, PairList

_RATE: Final = 5e-5
_HEAD_RATE: Final = 1e-3
_WARM: Final = 0.1
_DECAY: Final = 0.01
_MOST_NORM: Final = 1.0
_LISTS: Final = 8
_PAIRS: Final = 512
_PADDED: Final = 16
_NONE_RIGHT: Final = 4
"""Answers without votes that a question is shown with, beside those that have some."""

_HARD: Final = 0.5
_EXPORTED: Final = ("input_ids", "attention_mask", "token_type_ids")
_OPSET: Final = 17


def begin(base: Path, *, seed: int, epochs: int, lists: int) -> FineTunedPairs:
    """Return the model to fine-tune; `ConfigError` if the base is none."""
    if not (base / "config.json").is_file():
        what = "has no config.json" if base.is_dir() else "there is no such folder"
        raise ConfigError(f"{what}; a base is a folder as transformers saves one", file=str(base))
    return FineTunedPairs(base, seed=seed, epochs=epochs, lists=lists)


class FineTunedPairs:
    """A cross-encoder in training: a pre-trained model with one number a pair as its output.

    `steps` is how many steps all epochs have together, by which the learning rate falls.
    """

    def __init__(
        self, base: str | Path, *, seed: int, epochs: int, lists: int, longest: int = LONGEST_PAIR
    ) -> None:
        torch.manual_seed(seed)
        transformers_logging.disable_progress_bar()
        transformers_logging.set_verbosity_error()
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._is_mixed = _has_bfloat16(self._device)
        self._seed, self._longest = seed, longest
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(str(base), local_files_only=True)
            self._model: Any = AutoModelForSequenceClassification.from_pretrained(
                str(base),
                num_labels=1,
                local_files_only=True,
                ignore_mismatched_sizes=True,
                attn_implementation="eager",
            ).to(self._device)
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            what = f"is no model to fine-tune, as transformers saves one: {error!s:.200}"
            raise ConfigError(what, file=str(base)) from None
        self._optimizer = torch.optim.AdamW(self._groups(), weight_decay=_DECAY)
        steps = max(1, epochs * -(-lists // _LISTS))
        warm = max(1, round(_WARM * steps))
        self._schedule = torch.optim.lr_scheduler.LambdaLR(
            self._optimizer,
            lambda step: min((step + 1) / warm, max(0.0, (steps - step) / (steps - warm + 1))),
        )

    def learn(
        self, lists: Sequence[PairList], epoch: int, on_lists: Callable[[int], None]
    ) -> float:
        """Learn from all lists once and return the mean loss; `on_lists` gets the count so far."""
        dice = random.Random(self._seed * 1000 + epoch)
        torch.manual_seed(self._seed * 1000 + epoch)  # so that it goes on as if never interrupted
        order = list(range(len(lists)))
        dice.shuffle(order)
        hard = self._hard(lists, dice) if epoch else {}
        self._model.train()
        total = 0.0
        for start in range(0, len(order), _LISTS):
            part = [
                _sample(lists[one], hard.get(one), dice) for one in order[start : start + _LISTS]
            ]
            total += self._step(part) * len(part)
            on_lists(min(start + _LISTS, len(order)))
        return total / max(1, len(order))

    def logits(self, pairs: Sequence[Pair]) -> list[float]:
        """Return the model's number for each pair."""
        self._model.eval()
        known: dict[Pair, float] = {}
        wanted = list(dict.fromkeys(pairs))
        with torch.inference_mode():
            for start in range(0, len(wanted), _PAIRS):
                part = wanted[start : start + _PAIRS]
                known.update(zip(part, self._forward(part).tolist(), strict=True))
        return [known[pair] for pair in pairs]

    def state(self) -> bytes:
        """Return all that is needed to go on from here, with the weights."""
        kept = BytesIO()
        parts = (self._model, self._optimizer, self._schedule)
        torch.save([part.state_dict() for part in parts], kept)
        return kept.getvalue()

    def restore(self, state: bytes) -> None:
        """Go on from a state; nothing in it is executed."""
        found = torch.load(BytesIO(state), map_location=self._device, weights_only=True)
        parts = (self._model, self._optimizer, self._schedule)
        for part, values in zip(parts, found, strict=True):
            part.load_state_dict(values)

    def tokenizer(self) -> str:
        """Return the tokenizer as `tokenizer.json` holds it."""
        text: str = self._tokenizer.backend_tokenizer.to_str()
        return text

    def to_onnx(self) -> bytes:
        """Return the model in ONNX's format: `logits`, one number a pair."""
        encoded = self._encoded([("a question", "an answer"), ("why", "because it is so")])
        names = [name for name in _EXPORTED if name in encoded]
        exported = _Exported(self._model.cpu().eval(), names)
        file = BytesIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the exporter warns of itself
            torch.onnx.export(
                exported,
                tuple(encoded[name].cpu() for name in names),
                file,
                input_names=names,
                output_names=["logits"],
                dynamic_axes={name: {0: "pairs", 1: "tokens"} for name in names}
                | {"logits": {0: "pairs"}},
                opset_version=_OPSET,
                dynamo=False,
            )
        self._model.to(self._device)
        return file.getvalue()

    def _groups(self) -> list[dict[str, Any]]:
        """Let the new head learn faster than what is pre-trained."""
        head = [p for name, p in self._model.named_parameters() if name.startswith("classifier")]
        known = {id(one) for one in head}
        rest = [p for p in self._model.parameters() if id(p) not in known]
        return [{"params": rest, "lr": _RATE}, {"params": head, "lr": _HEAD_RATE}]

    def _hard(self, lists: Sequence[PairList], dice: random.Random) -> dict[int, list[float]]:
        """Return what the model believes of each answer now."""
        pairs = [(one.question, answer) for one in lists for answer in one.answers]
        with self._mixed():
            found = iter(self.logits(pairs))
        return {
            place: [next(found) + dice.random() * _HARD for _ in one.answers]
            for place, one in enumerate(lists)
        }

    def _step(self, part: Sequence[PairList]) -> float:
        pairs = [(one.question, answer) for one in part for answer in one.answers]
        with self._mixed():
            logits = self._forward(pairs).float()
        shares = torch.tensor([s for one in part for s in one.shares], device=self._device)
        weights = torch.tensor(
            [one.weight / len(one.shares) for one in part for _ in one.shares], device=self._device
        )
        each = torch.nn.functional.binary_cross_entropy_with_logits(
            logits, shares, reduction="none"
        )
        loss = (each * weights).sum() / len(part)
        start = 0
        for one in part:
            end = start + len(one.shares)
            if (total := sum(one.shares)) > 0:
                chosen = torch.log_softmax(logits[start:end], 0) * shares[start:end] / total
                loss = loss - one.weight * chosen.sum() / len(part)
            start = end
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), _MOST_NORM)
        self._optimizer.step()
        self._schedule.step()
        self._optimizer.zero_grad(set_to_none=True)
        return float(loss.detach())

    def _mixed(self) -> Any:
        """Multiply matrices of 16 bits where the machine can; weights keep all of theirs."""
        return torch.autocast(self._device.type, torch.bfloat16, enabled=self._is_mixed)

    def _forward(self, pairs: Sequence[Pair]) -> Any:
        """Return a number for each pair; those of about one length go together, to pad little."""
        order = sorted(range(len(pairs)), key=lambda one: len(pairs[one][0]) + len(pairs[one][1]))
        parts = [order[start : start + _PADDED] for start in range(0, len(order), _PADDED)]
        found = [self._model(**self._encoded([pairs[n] for n in part])).logits for part in parts]
        places = torch.argsort(torch.tensor(order, device=self._device))
        return torch.cat(found).reshape(-1)[places]

    def _encoded(self, pairs: Sequence[Pair]) -> dict[str, Any]:
        first, second = zip(*pairs, strict=True)
        found = self._tokenizer(
            list(first),
            list(second),
            truncation=True,
            max_length=self._longest,
            padding=True,
            return_tensors="pt",
        )
        return {name: value.to(self._device) for name, value in found.items()}


class _Exported(torch.nn.Module):  # type: ignore[misc]
    """The model with positional inputs and one output, as an exporter wants it."""

    def __init__(self, model: Any, names: Sequence[str]) -> None:
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *values: Any) -> Any:
        return self.model(**dict(zip(self.names, values, strict=True))).logits


def _has_bfloat16(device: Any) -> bool:
    """Return whether a device multiplies numbers of 16 bits in hardware, two to three times as
    fast."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    names = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(getattr(torch.cpu, name, lambda: False)() for name in names)


def _sample(one: PairList, believed: Sequence[float] | None, dice: random.Random) -> PairList:
    """Return the answers with votes, and a few of the others."""
    right = [place for place, share in enumerate(one.shares) if share > 0]
    wrong = [place for place, share in enumerate(one.shares) if share <= 0]
    if believed is None:
        dice.shuffle(wrong)
    else:
        wrong.sort(key=lambda place: -believed[place])
    kept = [*right, *wrong[:_NONE_RIGHT]]
    return PairList(
        one.question,
        [one.answers[place] for place in kept],
        [one.shares[place] for place in kept],
        one.weight,
    )

#!/usr/bin/env python3
"""Makes the small models that real vLLM servers are tested with; runs in the environment of `scripts/test_vllm`.

policy    SmolLM2-135M-Instruct, from the GGUF file of `mctsr model get`, as safetensors.
labels    A made-up Llama of two layers that says "+" or "-" and nothing else, whatever it reads; it opens each text
          with a token of its own, as Llama's and Mistral's tokenizers do.
steps     A made-up Qwen2.5-Math-PRM of two layers: one row [P(bad), P(good)] for each <extra_0>.
reward    A made-up Qwen2 of two layers with one number for a whole text.

The made-up ones are random, from a fixed seed: what they think means nothing, how they are asked is real. All share
the tokenizer of the first. Usage: models.py FOLDER [GGUF]; a model that is there already is left as it is.
"""

import json
import shutil
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers.processors import TemplateProcessing
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen2ForSequenceClassification,
    set_seed,
)
from transformers import PreTrainedTokenizerBase as Tokenizer

Weights = dict[str, torch.Tensor]

STEP_MARK = "<extra_0>"
SHAPE = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "max_position_embeddings": 4096,
}
DECIDED, STEADY, WORDY, LOUD = 60.0, 6.0, 40.0, 8.0
"""Of `labels`: tried out so that nearly all of the next token is a label, and which one depends on the text."""


def main(folder: Path, gguf: Path) -> None:
    """Make every model that is not there."""
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    for name, make in {"policy": policy, "labels": labels, "steps": steps, "reward": reward}.items():
        target, scratch = folder / name, folder / f".{name}"
        if target.exists():
            continue
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        set_seed(7)
        make(scratch, gguf, AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name))
        scratch.rename(target)
        print(f"made {name}: {len(tokenizer)} tokens, {size(target) / 1e6:.0f} MB")


def policy(target: Path, gguf: Path, tokenizer: Tokenizer) -> None:
    """Write the GGUF file's weights, unpacked, under the names that they have there."""
    model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    fields = model.config.to_dict()
    # It says how the file was packed, which the new one is not.
    fields.pop("quantization_config", None)
    weights = {name: value for name, value in model.state_dict().items() if name != "lm_head.weight"}
    config = LlamaConfig(**{**fields, "architectures": ["LlamaForCausalLM"], "dtype": torch.bfloat16})
    write(target, config, weights, tokenizer)


def labels(target: Path, gguf: Path, tokenizer: Tokenizer) -> None:
    """Write a model whose output layer looks at one direction that every text has, and sways by the text."""
    start = tokenizer.bos_token
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=f"{start} $A", pair=f"{start} $A $B", special_tokens=[(start, tokenizer.bos_token_id)]
    )
    model = LlamaForCausalLM(LlamaConfig(**SHAPE, **of(tokenizer), tie_word_embeddings=False)).float()
    weights = louder(model, LOUD)
    direction = torch.zeros(SHAPE["hidden_size"])
    direction[0] = 1.0
    embedded = "model.embed_tokens.weight"
    weights[embedded] = weights[embedded] * WORDY / LOUD + STEADY * direction
    for name, value in weights.items():
        if name.endswith(("o_proj.weight", "down_proj.weight")):
            value[0] = 0.0  # no layer writes in the direction
    head = torch.zeros_like(weights["lm_head.weight"])
    for word, sign in (("+", 1.0), ("-", -1.0)):
        (number,) = tokenizer.encode(word, add_special_tokens=False)
        head[number] = DECIDED * direction
        head[number, 1:] = sign * torch.randn(len(direction) - 1) / len(direction) ** 0.5
    weights["lm_head.weight"] = head
    write(target, model.config, weights, tokenizer)


def steps(target: Path, gguf: Path, tokenizer: Tokenizer) -> None:
    """Write a body of Qwen2 with the two layers that score, by the names of the published model."""
    tokenizer.add_special_tokens({"additional_special_tokens": [STEP_MARK]})
    config = Qwen2Config(**shape_of_qwen(), **of(tokenizer), architectures=["Qwen2ForProcessRewardModel"])
    body = Qwen2ForCausalLM(Qwen2Config(**shape_of_qwen(), **of(tokenizer)))
    weights = louder(body, 4.0)
    width = SHAPE["hidden_size"]
    for name, (rows, columns) in {"score.0": (width, width), "score.2": (2, width)}.items():
        weights[f"{name}.weight"] = torch.randn(rows, columns) / columns**0.5
        weights[f"{name}.bias"] = torch.zeros(rows)
    write(target, config, weights, tokenizer)
    (target / "step_mark.json").write_text(json.dumps(tokenizer.convert_tokens_to_ids(STEP_MARK)))


def reward(target: Path, gguf: Path, tokenizer: Tokenizer) -> None:
    """Write a classifier with one label, which is not squashed by a name that would ask for it."""
    fields = {**shape_of_qwen(), **of(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    model = Qwen2ForSequenceClassification(Qwen2Config(**fields, num_labels=1))
    weights = louder(model, 4.0)
    weights["score.weight"] = torch.randn(1, SHAPE["hidden_size"])
    model.config.architectures = ["Qwen2ForSequenceClassification"]
    write(target, model.config, weights, tokenizer)


def louder(model: torch.nn.Module, factor: float) -> Weights:
    """Return a fresh model's weights, its matrices multiplied: else what it read would hardly show."""
    return {name: value * factor if value.dim() == 2 else value for name, value in model.state_dict().items()}


def shape_of_qwen() -> dict[str, object]:
    """Return the shape in the words of Qwen2, whose heads' size follows from the rest."""
    return {name: value for name, value in SHAPE.items() if name != "head_dim"}


def of(tokenizer: Tokenizer) -> dict[str, object]:
    """Return what a model must know of its tokenizer."""
    return {
        # A multiple of 64, as published models have it, and larger than the tokenizer.
        "vocab_size": (len(tokenizer) + 63) // 64 * 64,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "dtype": torch.bfloat16,
    }


def write(target: Path, config: LlamaConfig | Qwen2Config, weights: Weights, tokenizer: Tokenizer) -> None:
    """Write a model's folder."""
    config.save_pretrained(target)
    tokenizer.save_pretrained(target)
    halved = {name: value.to(torch.bfloat16).contiguous() for name, value in weights.items()}
    save_file(halved, target / "model.safetensors", metadata={"format": "pt"})


def size(folder: Path) -> int:
    """Return the bytes of a folder."""
    return sum(file.stat().st_size for file in folder.iterdir())


if __name__ == "__main__":
    from mctsr.lm.local.gguf import fetch_default

    main(Path(sys.argv[1]), Path(sys.argv[2]) if sys.argv[2:] else fetch_default())

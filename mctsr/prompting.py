"""Load, check and fill the prompt files.

A prompt is `prompts/<name>.md`: TOML front matter between `+++` lines (inputs, output, source, optionally a
JSON Schema for the reply), then role sections that begin with `{{role "system"}}`. `{{name}}` is filled in one
pass, so that inserted text is never read as a template, and LaTeX braces and dollars survive.
"""

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from mctsr.errors import PromptError

_FRONT = re.compile(r"\A\+\+\+\n(.*?)\n\+\+\+\n(.*)\Z", re.DOTALL)
_ROLE = re.compile(r'^\{\{role "(system|user|assistant)"\}\}\n', re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")
_NAME = re.compile(r"[a-z_]+")
_BRACES = re.compile(r"\{\{[^{}]*\}\}")
_KEYS = {"inputs", "output", "source", "schema"}


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt file.

    Attributes:
        name: File name without its ending.
        inputs: The placeholders, each used at least once.
        output: What the reply is, for people and checks: "text" or "score".
        source: Where the idea comes from.
        sections: Pairs of role and template, the last one the user's.
        schema: JSON Schema that the reply must satisfy, or None.
        sha256: Of the whole file, in hexadecimal.
    """

    name: str
    inputs: frozenset[str]
    output: str
    source: str
    sections: tuple[tuple[str, str], ...]
    schema: Mapping[str, object] | None
    sha256: str

    def fill(self, values: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """Return the role and content of each turn.

        Raises:
            PromptError: A value is missing or left over.
        """
        if values.keys() != self.inputs:
            missing, surplus = sorted(self.inputs - values.keys()), sorted(values.keys() - self.inputs)
            raise PromptError(f"prompt {self.name!r}: missing values {missing}, unknown values {surplus}")
        return tuple((role, _filled(template, values)) for role, template in self.sections)


@cache
def _pieces(template: str) -> tuple[str, ...]:
    """Split at the placeholders: text, name, text, name … text."""
    return tuple(_PLACEHOLDER.split(template))


def _filled(template: str, values: Mapping[str, str]) -> str:
    pieces = list(_pieces(template))
    pieces[1::2] = [values[name] for name in pieces[1::2]]
    return "".join(pieces)


def parse(name: str, text: str) -> Prompt:
    """Read one prompt file.

    Raises:
        PromptError: The file is malformed; says where and what is allowed.
    """
    front = _FRONT.match(text.replace("\r\n", "\n"))
    if front is None:
        raise PromptError(f"prompt {name!r}: begin with TOML front matter between two `+++` lines")
    try:
        head = tomllib.loads(front[1])
    except tomllib.TOMLDecodeError as error:
        raise PromptError(f"prompt {name!r}: front matter is not TOML: {error}") from None
    if head.keys() - _KEYS or {"inputs", "output", "source"} - head.keys():
        raise PromptError(f"prompt {name!r}: front matter has {sorted(head)}, allowed are {sorted(_KEYS)}")
    _check_types(name, head)
    parts = _ROLE.split(front[2])
    sections = tuple(zip(parts[1::2], (part.strip("\n") for part in parts[2::2]), strict=True))
    if parts[0].strip() or not sections or sections[-1][0] != "user":
        raise PromptError(
            f'prompt {name!r}: the text must be role sections, the last one {{{{role "user"}}}}'
        )
    inputs = frozenset(head["inputs"])
    used = {found[2:-2] for _, template in sections for found in _BRACES.findall(template)}
    if used != inputs or not all(map(_NAME.fullmatch, inputs)):
        raise PromptError(f"prompt {name!r}: inputs {sorted(inputs)} but the text uses {sorted(used)}")
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Prompt(name, inputs, head["output"], head["source"], sections, head.get("schema"), digest)


def _check_types(name: str, head: Mapping[str, object]) -> None:
    inputs = head["inputs"]
    if not isinstance(inputs, list) or not all(isinstance(one, str) for one in inputs):
        raise PromptError(f"prompt {name!r}: inputs is {inputs!r}; it must be a list of names")
    if head["output"] not in ("text", "score"):
        raise PromptError(f'prompt {name!r}: output is {head["output"]!r}; it must be "text" or "score"')
    if not isinstance(head["source"], str) or not isinstance(head.get("schema", {}), dict):
        raise PromptError(f"prompt {name!r}: source must be a text and schema a table")


def shipped_folder() -> Path:
    """Return the folder of the shipped prompts: inside the package, or beside it in a checkout."""
    package = Path(str(files("mctsr")))
    inside = package / "prompts"
    return inside if inside.is_dir() else package.parent / "prompts"


class Prompts(Mapping[str, Prompt]):
    """All prompts of a run: the shipped ones, overridden file by file.

    Raises:
        PromptError: A folder does not exist, or a file in it is malformed.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._prompts: dict[str, Prompt] = {}
        for place in (shipped_folder(), folder):
            if place is not None:
                self._prompts |= _read_folder(place)

    def __getitem__(self, name: str) -> Prompt:
        return self._prompts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._prompts)

    def __len__(self) -> int:
        return len(self._prompts)

    def hashes(self) -> dict[str, str]:
        """Return the sha256 of every prompt by name."""
        return {name: prompt.sha256 for name, prompt in sorted(self._prompts.items())}


def _read_folder(folder: Path) -> dict[str, Prompt]:
    if not folder.is_dir():
        raise PromptError(f"prompt folder {str(folder)!r} does not exist; give a folder of <name>.md files")
    found = {}
    for file in sorted(folder.glob("*.md")):
        try:
            # Not read_text: the hash is of the file as it lies on disk, line ends and all.
            found[file.stem] = parse(file.stem, file.read_bytes().decode("utf-8"))
        except UnicodeDecodeError as error:
            raise PromptError(f"prompt file {str(file)!r} is not UTF-8: {error}") from None
    if not found:
        raise PromptError(
            f"prompt folder {str(folder)!r} holds no .md file; give a folder of <name>.md files"
        )
    return found

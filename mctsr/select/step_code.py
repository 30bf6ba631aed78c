"""The default move code of an LLM's step: what it works out, not how it says so.

Two steps share a code when they share a form. The form of a step that holds equations is these, each as
"operation = result" with the operands of sums and products sorted; a step without one is its content words in their
order. Nothing is computed: `3*4 = 12` and `3*4 = 13` differ, and so do `3*4` and `2*6`.
"""

import re
from hashlib import blake2b

from .step_notation import NAME, NUMBER, RELATION, SIGN, STOP, WORD, tokens
from .step_terms import ARTICLES, Expression, Reader

#: Longer texts are not read.
LONGEST = 4000

_BITS = 62
_MOST_WORDS = 8
_JOINS = re.compile(r"[-+*/]|mod")
_LABEL = Expression("", False)
_TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SAYS = _set(
    "is are equals equal gives give giving get gets getting makes make making yields yield yielding results result "
    "resulting obtain obtains obtained obtaining becomes become leaves leave leaving produces comes totals"
)
_NOUNS = _set("total product sum difference quotient value")
_LINKS = _set(
    "which that this it to us we you in be a an of the answer so and thus therefore for exactly about approximately "
    "will can then hence our"
)
_BETWEEN = _SAYS | _NOUNS | _LINKS | _set("with by")
_FILLERS = (
    _SAYS
    | _LINKS
    | _set(
        "first firstly second secondly third thirdly next now finally lastly also let lets let's step here as at on "
        "compute computes computing calculate calculates calculating calculation find finds finding evaluate work out "
        "need needs want wants must should have has had do does just simply know since because i he she they there "
        "using use uses was were been its his her their these those from"
    )
)


def step_code(text: str) -> int:
    """Return the move code of a step, in [0, 2**62): the same in every process, and for every step of its form.

    blake2b of `step_form(text)`.
    """
    form = step_form(text).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(form, digest_size=8).digest(), "big") >> (64 - _BITS)


def step_form(text: str) -> str:
    r"""Return what `step_code` reads in a step, so that a person sees why two steps share a code.

    `First, 3*4 = 12.`, `**Step 2:** next we compute $4 \times 3$, which gives 12 apples` and `total = 4 × 3 = 12`
    are all "3*4 = 12". Equations come sorted, each once; a chain keeps its first operation and its last result.
    A text of more than 4000 characters is no step: it is its own form.
    """
    if len(text) > LONGEST:
        return text
    equations, words = _read(Reader(*tokens(text)))
    if equations:
        return "; ".join(sorted(set(equations)))
    content = [word for word in words if word not in _FILLERS] or words
    return " ".join(content) or " ".join(text.split())


def _read(reader: Reader) -> tuple[list[str], list[str]]:
    """Split a row of tokens into the forms of its equations, and everything else in order."""
    equations: list[str] = []
    words: list[str] = []
    kinds, texts = reader.kinds, reader.texts
    while text := texts[reader.at]:
        kind = kinds[reader.at]
        sides, relations = _chain(reader) if kind not in (WORD, STOP) else ([], [])
        if not sides:
            reader.at += 1
            if kind != STOP and text not in "()":
                words.append(_singular(text))
        elif equation := _equation(sides, relations):
            equations.append(equation)
        else:
            for side, sign in zip(sides, [*relations, ""], strict=True):
                words += [part for part in (side.form, sign) if part not in ("", "=")]
    return equations, words


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] not in "su" else word


def _chain(reader: Reader) -> tuple[list[Expression], list[str]]:
    """Read sides and the relations between them; a label in words before the first relation is an empty side."""
    start = reader.at
    first = _LABEL if reader.kinds[start] == RELATION else _operand(reader)
    sides, relations = [first] if first else [], []
    while first and (relation := _relation(reader, sides[-1])):
        side = _operand(reader)
        if side is None:
            break
        sides.append(side)
        relations.append(relation)
    if first is _LABEL and len(sides) == 1:
        reader.at = start
        return [], []
    return sides, relations


def _operand(reader: Reader) -> Expression | None:
    """Read an expression; "a" and "I" are words unless a sign or a relation follows."""
    if reader.texts[reader.at] in ARTICLES and reader.kinds[reader.at + 1] not in (SIGN, RELATION):
        return None
    return reader.expression()


def _relation(reader: Reader, side: Expression) -> str:
    """Read a relation, as a sign or as the words for "=" behind an operation or a name; "" when there is none."""
    at, texts = reader.at, reader.texts
    if reader.kinds[at] == RELATION:
        reader.at += 1
        return texts[at]
    if not side.works and not side.form.isalpha():
        return ""
    says, last = False, at + _MOST_WORDS
    at += texts[at] in (",", ":")
    while at < last and texts[at] in _BETWEEN:
        says |= texts[at] in _SAYS
        at += 1
    if not says or not (reader.kinds[at] in (NUMBER, NAME) or texts[at] in ("(", "-")):
        return ""
    reader.at = at
    return "="


def _equation(sides: list[Expression], relations: list[str]) -> str:
    """Spell an equation as "operation = result"; "" for what states none."""
    if any(relation != "=" for relation in relations):
        return _inequality(sides, relations)
    works = [side.form for side in sides if side.works]
    if len(sides) == 1 or (not works and not all(side.form for side in sides)):
        return ""
    if not works:
        return " = ".join(sorted({side.form for side in sides}, reverse=True))
    if len(sides) == 2 and len(works) == 2:
        return " = ".join(sorted(works))
    # In c² = 3² + 4² = 25 the sum is the operation.
    operation = next((form for form in works if _JOINS.search(form, 1)), works[0])
    results = [side.form for side in sides if side.form and side.form != operation]
    numbers = [form for form in results if form.lstrip("-").replace(".", "").isdigit()]
    return " = ".join([operation, *(numbers or results)[-1:]])


def _inequality(sides: list[Expression], relations: list[str]) -> str:
    """Spell it so that the first relation points to the left; "" below a label in words."""
    forms = [side.form for side in sides]
    if not all(forms):
        return ""
    if relations[0][0] == ">" or (relations[0] == "!=" and forms[0] > forms[-1]):
        forms.reverse()
        relations = [_TURNED.get(relation, relation) for relation in reversed(relations)]
    pairs = zip(relations, forms[1:], strict=True)
    return forms[0] + "".join(f" {relation} {form}" for relation, form in pairs)

"""Any text is either a query or refused with an error in the form of all errors."""

from __future__ import annotations

import re
from random import Random

from headrace.languages import QueryError, parse
from headrace.languages.query.errors import CODES
from tests.languages.cypher.examples import PAPER, REFUSED, TRANSLATED

QUERIES = [*PAPER.values(), *TRANSLATED]
OTHERS = [*filter(None, REFUSED)]
TEXTS = QUERIES + OTHERS
WORDS = re.compile(r"\w+|\s+|.", re.DOTALL)
POOL = sorted({word for text in TEXTS for word in WORDS.findall(text)})


def changed(text: str, random: Random) -> str:
    """The text with a name or number in place of another, or with a few words changed anyhow."""
    words = WORDS.findall(text)
    if random.randrange(3):
        names = [place for place, word in enumerate(words) if re.fullmatch(r"[a-z0-9]+|[KL]", word)]
        for place in random.choices(names, k=2):
            words[place] = words[random.choice(names)]
        return "".join(words)
    for _ in range(random.randint(1, 3)):
        place, other = random.randrange(len(words)), random.randrange(len(words))
        match random.randrange(4):
            case 0:
                words[place] = ""
            case 1:
                words[place] += words[other]
            case 2:
                words[place], words[other] = words[other], words[place]
            case _:
                words[place] = random.choice(POOL)
    return "".join(words)


def refusal(text: str) -> QueryError | None:
    """The error of a text; None for a query."""
    try:
        parse(text, "cypher")
    except QueryError as error:
        return error
    return None


def test_changed_texts_are_queries_or_refused() -> None:
    random = Random(20)
    read = 0
    for _ in range(3000):
        text = changed(random.choice(random.choice((QUERIES, OTHERS))), random)
        error = refusal(text)
        if error is None:
            read += 1
            continue
        assert error.code in CODES, text
        assert error.line is None or error.render(text).count("\n") in (0, 2), text
    assert 200 < read < 2800

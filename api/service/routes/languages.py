"""The query languages that the service reads."""

from __future__ import annotations

from fastapi import APIRouter

from ....languages.registry import LANGUAGES
from ..bodies import LanguageDocument

routes = APIRouter()


@routes.get("/languages", summary="The query languages, in the order of their detection")
def _all() -> list[LanguageDocument]:
    return [
        LanguageDocument(
            name=language.name,
            title=language.title,
            endings=language.endings,
            comment=language.comment,
        )
        for language in LANGUAGES
    ]

"""CoNLL-U out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def format_sentence(words: Sequence[str], heads: Iterable[int], labels: Iterable[str], *, sent_id: str) -> str:
    """A parsed sentence in CoNLL-U, with the empty line that ends it.

    words (Sequence[str]): The forms, taken to be separated by single spaces. Tabs and line breaks in them become spaces.
    heads (Iterable[int]): 0 = ROOT.
    labels (Iterable[str]): The relations; not empty. White space in them becomes an underscore.
    sent_id (str): Value of the comment of that name.

    UPOS is X, since nothing is known of it and the validator wants one; the other columns are empty.
    """
    forms = [" ".join(word.split()) or "_" for word in words]
    lines = [f"# sent_id = {sent_id}", f"# text = {' '.join(forms)}"]
    for number, (form, head, label) in enumerate(zip(forms, heads, labels, strict=True), 1):
        lines.append(f"{number}\t{form}\t_\tX\t_\t_\t{head}\t{'_'.join(label.split())}\t_\t_")
    return "\n".join(lines) + "\n\n"

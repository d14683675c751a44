"""Colours and line widths of pictures of parses, for light and for dark pages; and the key that explains them."""

from __future__ import annotations

from html import escape

__all__ = ["FLOORS", "KEY_HEIGHT", "PAGE_STYLE", "PICTURE_STYLE", "draw_key", "probability_class"]

# An arc has the class p5 if its probability is at least the last of these, and so on down to p0.
FLOORS = (0.0, 0.3, 0.5, 0.7, 0.85, 0.95)
# From doubtful to sure: red and orange to blue, which all kinds of colour vision tell apart. Each has a contrast of at
# least 4.5 to the card, so that the labels can be read.
_LIGHT = {
    "card": "#ffffff", "page": "#f4f6f8", "edge": "#d5dbe1", "ink": "#1a1f26", "soft": "#5b6570", "plain": "#6b7785",
    "p0": "#b3261e", "p1": "#c2410c", "p2": "#a65f00", "p3": "#80701c", "p4": "#2f7ab8", "p5": "#0a4f9c",
}  # fmt: skip
_DARK = {
    "card": "#161b22", "page": "#0d1117", "edge": "#30363d", "ink": "#e8edf2", "soft": "#9aa5b1", "plain": "#8b97a5",
    "p0": "#ff7b72", "p1": "#ff9a57", "p2": "#f0b54a", "p3": "#d9d08a", "p4": "#8cbdf0", "p5": "#58a6ff",
}  # fmt: skip
_WIDTHS = (1.3, 1.5, 1.8, 2.1, 2.5, 2.9)  # of lines from p0 to p5: the surer, the thicker
KEY_HEIGHT = 22


def _colours(of: dict[str, str]) -> str:
    return "".join(f"--mr-{name}:{value};" for name, value in of.items())


# Sites and notebooks whose own theme may differ from that of the system say so with these attributes and classes.
_THEMES = (
    '[data-theme="{theme}"] .mindroot',
    '[data-jp-theme-light="{is_light}"] .mindroot',
    ".vscode-{theme} .mindroot",
)


def _of_theme(theme: str) -> str:
    return ",".join(each.format(theme=theme, is_light=str(theme == "light").lower()) for each in _THEMES)


PICTURE_STYLE = (
    f".mindroot{{{_colours(_LIGHT)}}}"
    f"@media (prefers-color-scheme:dark){{.mindroot{{{_colours(_DARK)}}}}}"
    f"{_of_theme('light')}{{{_colours(_LIGHT)}}}"
    f"{_of_theme('dark')}{{{_colours(_DARK)}}}"
    ".mindroot text{font:14px system-ui,-apple-system,'Segoe UI','Noto Sans',Helvetica,Arial,sans-serif;"
    "fill:var(--mr-ink);text-anchor:middle}"
    ".mindroot .card{fill:var(--mr-card);stroke:var(--mr-edge)}"
    ".mindroot .arc{fill:none;stroke:var(--mr-plain);stroke-width:1.8}"
    ".mindroot .tip{fill:var(--mr-plain)}"
    ".mindroot .hit{fill:none;stroke:transparent;stroke-width:13;pointer-events:stroke}"
    ".mindroot .hover:hover .arc{stroke-width:4.2}"
    ".mindroot text.label{font-size:11.5px;fill:var(--mr-soft);paint-order:stroke;stroke:var(--mr-card);"
    "stroke-width:7px;stroke-linejoin:round}"
    ".mindroot text.tag{font-size:10px;letter-spacing:.03em;fill:var(--mr-soft)}"
    ".mindroot text.caption{font-weight:600}"
    ".mindroot text.key{font-size:11px;fill:var(--mr-soft);text-anchor:start}"
    ".mindroot .next.arc{stroke:var(--mr-soft);stroke-width:1.4;stroke-dasharray:5 4}"
    ".mindroot .next.tip{fill:var(--mr-soft)}"
    ".mindroot text.next.label{font-style:italic}"
    ".mindroot .gold.arc{stroke-dasharray:1.5 3.5;stroke-linecap:round;stroke:var(--mr-ink);stroke-width:2}"
    ".mindroot .gold.tip{fill:var(--mr-ink)}"
) + "".join(
    f".mindroot .p{k}.arc{{stroke:var(--mr-p{k});stroke-width:{width}}}"
    f".mindroot .p{k}.tip,.mindroot text.p{k}.label{{fill:var(--mr-p{k})}}"
    + (f".mindroot text.p{k}.label{{font-weight:600}}" if k < 4 else "")
    for k, width in enumerate(_WIDTHS)
)

PAGE_STYLE = (
    ".mindroot{color-scheme:light dark;color:var(--mr-ink);font:15px/1.5 system-ui,-apple-system,'Segoe UI',"
    "'Noto Sans',Helvetica,Arial,sans-serif}"
    "body.mindroot{margin:0;background:var(--mr-page)}"
    ".mindroot main{max-width:80rem;margin:0 auto;padding:1.5rem 1rem 3rem}"
    ".mindroot h1{font-size:1.35rem;margin:.2rem 0 .6rem}"
    ".mindroot figure{margin:1rem 0;padding:.7rem 1rem;background:var(--mr-card);border:1px solid var(--mr-edge);"
    "border-radius:10px}"
    ".mindroot .scroll{overflow-x:auto;padding:.2rem 0}"
    ".mindroot .scroll>svg{display:block;margin:0 auto;max-width:none}"
    ".mindroot figcaption{display:flex;flex-wrap:wrap;gap:.1rem 1.2rem;font-size:13px;color:var(--mr-soft)}"
    ".mindroot figcaption b{color:var(--mr-ink)}"
    ".mindroot .legend{display:block;max-width:100%}"
    ".mindroot details{font-size:13px;color:var(--mr-soft);margin-top:.3rem}"
    ".mindroot summary{cursor:pointer}"
    ".mindroot table{border-collapse:collapse;margin:.4rem 0;color:var(--mr-ink)}"
    ".mindroot td,.mindroot th{padding:.1rem 1rem .1rem 0;text-align:start;border-bottom:1px solid var(--mr-edge);"
    "font-variant-numeric:tabular-nums}"
    ".mindroot th{color:var(--mr-soft);font-weight:500}"
    "@media print{.mindroot figure{break-inside:avoid}}"
)


def probability_class(probability: float) -> str:
    """Return the class of an arc, "p0" to "p5"."""
    return f"p{sum(probability >= floor for floor in FLOORS) - 1}"


def draw_key(*, next_best: bool = True, gold: bool = False) -> tuple[str, int]:
    """Return the key as elements for an `<svg>` of the height KEY_HEIGHT, and its width."""
    entries = [(f"p{k}", f"≥ {floor:.0%}" if k else f"< {FLOORS[1]:.0%}") for k, floor in enumerate(FLOORS)][::-1]
    if next_best:
        entries.append(("next", "next best head"))
    if gold:
        entries.append(("gold", "head in the file"))
    parts = [f'<text class="key" x="0" y="{KEY_HEIGHT - 8}">Probability of the head:</text>']
    x = 138
    for classes, text in entries:
        parts.append(f'<path class="arc {classes}" d="M{x},{KEY_HEIGHT - 12} h24"/>')
        parts.append(f'<text class="key" x="{x + 30}" y="{KEY_HEIGHT - 8}">{escape(text)}</text>')
        x += 44 + round(6.3 * len(text))
    return "".join(parts), x

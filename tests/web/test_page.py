"""The page in a real browser: keys, undo, training, two tabs, a server that is killed, dark and light, a phone."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
pytest.importorskip("uvicorn", reason="needs the extra annotate")

from annotation_helpers import BLANK, DONE, GOLD, Running, annotate, make_annotation, make_session, rows, toy  # noqa: E402

from spacy_mindroot.annotation.suggestions import Suggester  # noqa: E402
from spacy_mindroot.trees import is_tree  # noqa: E402
from spacy_mindroot.web.annotate import make_app  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Return a function that serves a session and opens its page."""
    running, contexts, errors = [], [], []

    def open_page(session=None, *, width=1280, annotation=None, **options):
        if session is not None:
            annotation = annotation or make_annotation(session)
            running.append(Running(make_app(annotation, "secret")).__enter__())
        contexts.append(browser.new_context(viewport={"width": width, "height": 860}, **options))
        page = contexts[-1].new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: "Content Security" in message.text and errors.append(message.text))
        page.goto(f"{running[-1].url}#secret")
        page.wait_for_selector("#tree svg, #empty:not([hidden])")
        return page

    yield open_page
    for each in contexts:
        each.close()
    for each in running:
        each.__exit__()
    assert not errors


def arcs(session, number=0):
    view = session.view(number)
    return list(zip(view["heads"], view["labels"], strict=True))


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)
    settle(page)


def settle(page):
    """Wait until all that was asked for is done."""
    page.evaluate("() => window.settled()")


def notice(page):
    settle(page)
    return page.text_content("#notice")


def selected(page):
    return int(page.text_content(".word-name small"))


def choose(page, key, typed):
    press(page, key)
    page.wait_for_selector("#choice[open]")
    page.keyboard.type(typed)
    press(page, "Enter")


def test_keys_for_heads_and_labels(opened, tmp_path):
    session = make_session(tmp_path, nlp=toy())
    page = opened(session)
    view = session.view(0)
    word = selected(page)
    assert word == view["doubt"][0]
    alternatives = view["alternatives"][word - 1]
    for key in "123"[: len(alternatives)]:
        expected = session.view(0)["alternatives"][word - 1][int(key) - 1][:2]
        press(page, key)
        assert list(arcs(session)[word - 1]) == expected
        press(page, "u")
        assert not session.view(0)["fixed"]
    word = next(k for k, own in enumerate(view["otherLabels"], 1) if own)
    press(page, *["ArrowRight" if word > selected(page) else "ArrowLeft"] * abs(word - selected(page)), "4")
    assert list(arcs(session)[word - 1]) == view["otherLabels"][word - 1][0][:2]
    press(page, "u")
    press(page, "r")
    assert arcs(session)[word - 1] == (0, "root")
    other = word % 3 + 1
    press(page, *["ArrowRight" if other > word else "ArrowLeft"] * abs(other - word))
    assert selected(page) == other
    choose(page, "h", str(word))
    assert arcs(session)[other - 1][0] == word
    choose(page, "l", "vocat")
    assert arcs(session)[other - 1] == (word, "vocative")
    choose(page, "l", "my:own")
    assert arcs(session)[other - 1] == (word, "my:own")
    press(page, "Control+z")
    assert arcs(session)[other - 1] == (word, "vocative")
    assert session.view(0)["fixed"] == sorted([word, other])


def test_space_confirms_and_tab_goes_from_doubt_to_doubt(opened, tmp_path):
    session = make_session(tmp_path, nlp=toy())
    page = opened(session)
    doubt = session.view(0)["doubt"]
    seen = [selected(page)]
    for _ in range(3):
        press(page, "Tab")
        seen.append(selected(page))
    assert seen == [*doubt, doubt[0]]
    press(page, "Shift+Tab")
    assert selected(page) == doubt[-1]
    before = arcs(session)
    press(page, " ")
    assert session.view(0)["fixed"] == [doubt[-1]] and arcs(session) == before
    assert page.locator(f"#tree .arc.fixed.d{doubt[-1]}").count() == 1


def test_enter_accepts_writes_and_goes_on(opened, tmp_path):
    session = make_session(tmp_path, nlp=toy())
    page = opened(session)
    for number in range(3):
        tree = arcs(session, number)
        press(page, "Enter")
        assert session.state(number) == "accepted"
        written = list(zip(session.treebank[number].heads, session.treebank[number].labels, strict=True))
        assert written == tree and is_tree([head for head, _ in tree], single_root=True)
        assert page.text_content("#count") == f"{number + 1} of 3"
    assert "last one" in notice(page)
    press(page, "u")
    assert session.state(2) == "new"


def test_from_nothing_by_keys_alone(opened, tmp_path):
    """An empty file, text, and a first tree by hand."""
    session = make_session(tmp_path, None)
    page = opened(session)
    page.keyboard.type("They left early\nGo home now")
    press(page, "Tab", "Enter")
    page.wait_for_selector("#tree svg")
    settle(page)
    assert selected(page) == 1
    press(page, "Enter")
    assert "not complete" in notice(page)
    choose(page, "h", "left")
    page.wait_for_selector("#choice[open]")  # no parser, so the label is asked for
    page.keyboard.type("nsubj")
    press(page, "Enter", "ArrowRight", "r", "ArrowRight")
    choose(page, "h", "2")
    page.keyboard.type("advmod")
    press(page, "Enter", "Enter")
    assert session.treebank.path.read_text().split("\n\n")[0] == "# sent_id = s1\n# text = They left early\n" + rows(
        GOLD[0]
    ).strip("\n")
    assert page.text_content("#text") == "Go home now"
    page.click("#add")
    page.fill("#text-new", "We saw them")
    page.click("#empty button")
    page.wait_for_selector("#sentences li:nth-child(3)")
    settle(page)
    assert len(session.treebank) == 3 and not page.is_visible("#empty")


def test_two_clicks_make_any_arc(opened, tmp_path):
    session = make_session(tmp_path, nlp=toy())
    page = opened(session)
    page.click("#tree .word.t1")
    page.click("#tree .word.t3")
    settle(page)
    assert arcs(session)[0][0] == 3 and session.view(0)["fixed"] == [1]
    page.click("#tree .word.t2")
    page.click("#tree .word.t2")
    page.click("#tree .word.t1")
    settle(page)
    assert session.view(0)["fixed"] == [1], "a second click on a word means nothing but that it is looked at"
    page.click("#tree .label.d1")
    settle(page)
    assert selected(page) == 1


def test_rules_best_valid_and_intended(opened, tmp_path):
    session = make_session(tmp_path, nlp=toy(), rules={"direction": {"obj": "right"}, "unique": ["obj"]})
    session.act(2, {"do": "arc", "word": 1, "head": 2, "label": "obj"})
    page = opened(session)
    press(page, "PageDown", "PageDown")
    assert page.text_content("#name") == "3"
    assert "on the other side of “saw”" in page.text_content("#violations")
    assert page.locator("#tree .faulty.arc.d1").count() == 1
    page.click("#violations button.link")
    settle(page)
    assert selected(page) == 1
    press(page, "i")
    assert session.view(2)["violations"][0]["intended"]
    assert page.locator("#tree .faulty").count() == 0
    press(page, "u", "u", "v")
    assert session.view(2)["valid"] and "certainly the best valid" in page.text_content("#violations")


def test_cells_can_be_edited(opened, tmp_path):
    session = make_session(tmp_path, nlp=toy())
    page = opened(session)
    page.fill("[aria-label='UPOS of word 2']", "VERB")
    page.keyboard.press("Tab")
    page.wait_for_function("() => document.querySelector('#tree').textContent.includes('VERB')")
    page.fill("[aria-label='FEATS of word 2']", "nonsense")
    page.keyboard.press("Tab")
    page.wait_for_function("() => document.querySelector('#notice').textContent.includes('Case=Nom')")
    assert session.view(0)["words"][1]["cells"] == {
        "FORM": "left",
        "LEMMA": "_",
        "UPOS": "VERB",
        "XPOS": "_",
        "FEATS": "_",
    }


def test_sentences_can_be_searched(opened, tmp_path):
    page = opened(make_session(tmp_path))
    press(page, "/")
    page.keyboard.type("saw")
    assert page.locator("#sentences li").count() == 1
    page.keyboard.press("Tab")
    press(page, "Enter")
    assert page.text_content("#text") == "We saw them"
    assert page.evaluate("document.activeElement.id") == "work"


def test_help_focus_and_what_is_spoken(opened, tmp_path):
    session = make_session(tmp_path, nlp=toy())
    page = opened(session)
    press(page, "?")
    assert page.is_visible("#keys") and "another head" in page.text_content("#keys")
    press(page, "Escape")
    assert not page.is_visible("#keys")
    page.focus("#work")
    word = selected(page)
    spoken = page.text_content("#spoken")
    form = session.treebank[0].words[word - 1]
    assert spoken.startswith(f"Word {word}, {form}: ") and "1: " in spoken and "%" in spoken
    press(page, "Escape", "Tab")
    assert page.evaluate("document.activeElement.closest('aside, main, header') !== null")
    assert page.evaluate("document.activeElement.id") != "work", "Tab leaves the tree after Esc"
    press(page, "Escape")
    assert page.evaluate("document.activeElement.id") == "work"


def test_two_tabs(opened, tmp_path):
    session = make_session(tmp_path, nlp=toy())
    one = opened(session)
    other = opened()
    press(one, "r")
    before = arcs(session)
    press(other, "1")
    other.wait_for_function("() => document.querySelector('#notice').textContent.includes('another tab')")
    assert arcs(session) == before
    assert other.locator("#tree .fixed.arc").count() == 1, "it shows what the other tab did"


def test_another_program_changes_the_file(opened, tmp_path):
    session = make_session(tmp_path, nlp=toy())
    page = opened(session)
    press(page, "r")
    theirs = BLANK.replace("home", "away") + DONE
    session.treebank.path.write_text(theirs)
    press(page, "Enter")
    assert "changed by another program" in page.text_content("#banner")
    assert session.treebank.path.read_text() == theirs
    page.click("#banner button.primary")
    page.wait_for_function("() => document.querySelector('#notice').textContent.includes('read anew')")
    settle(page)
    assert page.locator("#tree .fixed.arc").count() == 1, "the decision is kept"
    page.focus("#work")
    press(page, "Enter")
    assert session.state(0) == "accepted" and session.treebank.path.read_text().endswith(DONE)


def test_training_goes_on_beside_the_work(opened, tmp_path):
    session = make_session(tmp_path, rows(GOLD[0]) * 2 + BLANK)
    page = opened(session)
    assert page.locator(".alternative").count() == 0
    press(page, "r", "R")
    assert "begun" in notice(page)
    press(page, "ArrowRight")
    choose(page, "h", "1")
    page.keyboard.type("obl")
    press(page, "Enter")
    assert session.view(2)["fixed"] == [1, 2], "nothing waits for the training"
    page.wait_for_function("() => document.querySelector('#parser').textContent === 'trained on 2'", timeout=90_000)
    page.wait_for_selector(".alternative")
    settle(page)
    assert session.view(2)["fixed"] == [1, 2] and arcs(session, 2)[0] == (0, "root")


def test_a_finished_training_leaves_the_sentence_that_is_worked_on(opened, tmp_path):
    session = make_session(tmp_path, nlp=toy())
    annotation = make_annotation(session)
    page = opened(session, annotation=annotation)

    def let_come(page, generation, *, idle=True):
        """A training is done, and other sentences come first."""
        rates = {session.treebank.keys[2]: 0.9}
        if idle:
            page.evaluate("() => { annotation.touched = -Infinity; }")
        annotation.trainer._ready = (Suggester(toy()), rates, 2)
        page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
        page.wait_for_function(f"() => annotation.status.generation === {generation}")
        settle(page)

    press(page, "ArrowRight", "l")
    page.wait_for_selector("#choice[open]")
    word = selected(page)
    let_come(page, 1)
    assert page.text_content("#name") == "1" and page.is_visible("#choice")
    page.keyboard.type("vocat")
    press(page, "Enter")
    assert arcs(session)[word - 1][1] == "vocative"
    press(page, "u")
    field = page.locator("[aria-label='LEMMA of word 1']")
    field.click()
    let_come(page, 2)
    assert page.text_content("#name") == "1", "the cell that has the focus is not that of another sentence"
    page.keyboard.type("li")
    let_come(page, 3)
    page.wait_for_timeout(400)
    page.keyboard.type("ke")
    press(page, "Enter")
    assert session.view(0)["words"][0]["cells"]["LEMMA"] == "like", "what is typed is not lost"
    press(page, "Escape", "u")
    let_come(page, 4, idle=False)
    assert page.text_content("#name") == "1"
    let_come(page, 5)
    assert page.text_content("#name") == "3", "the least certain one, when nobody is at work"


def test_a_choice_is_for_the_sentence_that_it_was_asked_for(opened, tmp_path):
    session = make_session(tmp_path, nlp=toy())
    page = opened(session)
    press(page, "l") if session.view(0)["heads"][selected(page) - 1] else press(page, "h")
    page.wait_for_selector("#choice[open]")
    page.evaluate("() => { annotation.view = { ...annotation.view, number: 1 }; }")
    press(page, "Enter")
    assert "Decide again" in notice(page) and not session.view(1)["fixed"] and not session.view(0)["fixed"]


def test_a_key_that_is_held_or_struck_twice_accepts_one_sentence(opened, tmp_path):
    session = make_session(tmp_path, nlp=toy())
    page = opened(session)
    for _ in range(4):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    settle(page)
    assert [session.state(k) for k in range(3)] == ["accepted", "new", "new"]
    page.evaluate(
        "() => { for (const _ of [1, 2]) document.querySelector('#work').dispatchEvent("
        "new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true })) }"
    )
    settle(page)
    assert [session.state(k) for k in range(3)] == ["accepted", "accepted", "new"]
    press(page, "ArrowUp")
    press(page, "u")
    assert "The file has the sentence as it was accepted" in notice(page)


def test_adjudication(opened, tmp_path):
    session = make_session(tmp_path, DONE)
    key = session.treebank.keys[2]
    session.second = {each: [] for each in session.treebank.keys} | {key: [(2, "nsubj"), (0, "root"), (2, "iobj")]}
    session.second[session.treebank.keys[0]] = session.second[session.treebank.keys[1]] = ()
    page = opened(session)
    assert page.text_content("#name") == "3" and selected(page) == 3
    assert page.locator("#tree .gold.arc.d3").count() == 1
    press(page, "1", "Enter")
    assert session.treebank[2].labels == ["nsubj", "root", "iobj"]


def test_user_text_can_not_inject_anything(opened, tmp_path):
    evil = "<img/src=x/onerror=alert(1)>"
    text = f"# sent_id = <b>x</b>\n# text = {evil} b\n# text_en = <script>document.title='!'</script>\n"
    text += f"1\t{evil}\t<i>\t_\t_\t_\t2\t<u>x</u>\t_\t_\n2\tb\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    page = opened(make_session(tmp_path, text, review=True))
    assert page.text_content("#name") == "<b>x</b>"
    assert evil in page.text_content("#text") and "<script>" in page.text_content("#translations")
    assert page.locator("img, #work b b, #work u, #work script, #words i").count() == 0
    assert page.title().startswith("<b>x</b>")


def test_a_phone(opened, tmp_path):
    session = make_session(tmp_path, nlp=toy())
    page = opened(session, width=390, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    size = page.locator("#tree svg").bounding_box()
    assert size["width"] < 6 * size["height"], "one word per line"
    word = selected(page)
    expected = session.view(0)["alternatives"][word - 1][0][:2]
    page.tap(".alternative >> nth=0")
    settle(page)
    assert list(arcs(session)[word - 1]) == expected
    page.tap("#undo")
    page.tap("#doubt")
    settle(page)
    assert not session.view(0)["fixed"] and selected(page) == session.view(0)["doubt"][1]
    page.tap("#tree .word.t1")
    page.tap("#tree .word.t2")
    settle(page)
    assert arcs(session)[0][0] == 2
    page.tap("#open-list")
    assert page.is_visible("#sentences")
    page.tap("#sentences li:nth-child(3) button")
    settle(page)
    assert page.text_content("#name") == "3" and not page.is_visible("#sentences")
    for button in page.locator("main button:visible").all():
        if "link" not in (button.get_attribute("class") or ""):
            assert button.bounding_box()["height"] >= 40
    page.tap("#accept")
    settle(page)
    assert session.state(2) == "accepted"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_of_both_themes(scheme, opened, tmp_path):
    session = make_session(tmp_path, nlp=toy())
    page = opened(session, color_scheme=scheme)

    def luminance(colour):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(element, ground, name="color"):
        colours = """([element, ground, name]) => [
            getComputedStyle(document.querySelector(element))[name],
            getComputedStyle(document.querySelector(ground)).backgroundColor,
        ]"""
        one, two = sorted(map(luminance, page.evaluate(colours, [element, ground, name])))
        return (two + 0.05) / (one + 0.05)

    assert contrast("#text", "body") > 7
    for element, ground in ((".alternative .quiet", "#decide"), ("#accept", "#accept"), ("#count", "header")):
        assert contrast(element, ground) >= 4.5, element
    assert contrast("#tree .word", "figure", "fill") > 7
    dark = luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) < 0.2
    assert dark == (scheme == "dark")


def test_a_reload_keeps_the_sentence(opened, tmp_path):
    session = make_session(tmp_path, nlp=toy())
    page = opened(session)
    press(page, "PageDown")
    press(page, "r")
    page.reload()
    page.wait_for_selector("#tree svg")
    assert page.text_content("#name") == "2"
    assert page.locator("#tree .fixed.arc").count() == 1


def start_server(folder, port):
    command = [
        sys.executable,
        "-m",
        "spacy_mindroot",
        "annotate",
        str(folder / "tb.conllu"),
        "--no-browser",
        "--port",
        str(port),
    ]
    root = str(Path(__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    line = process.stdout.readline()
    assert "http://127.0.0.1:" in line
    return process, line.split()[-1]


def test_a_server_that_is_killed_and_started_again(browser, tmp_path):
    """Through the command itself: the page goes on where it was, and the file has what was accepted."""
    session = make_session(tmp_path)
    annotate(session, 0, GOLD[0])
    session.journal.close()
    process, address = start_server(tmp_path, 0)
    page = browser.new_page()
    try:
        page.goto(address)
        page.wait_for_selector("#tree svg")
        press(page, "r")
        process.send_signal(signal.SIGKILL)
        process.wait()
        press(page, "ArrowRight", "r")
        assert "Start it again; nothing that you decided is lost" in notice(page)
        process.stdout.close()
        port = int(re.search(r":(\d+)/", address)[1])
        process, again = start_server(tmp_path, port)
        assert again == address, "the token is the same"
        press(page, "ArrowDown", "ArrowUp")
        assert page.text_content("#name") == "2"
        assert page.locator("#tree .fixed.arc.d1").count() == 1
        press(page, "u")
        assert page.locator("#tree .fixed.arc").count() == 0
    finally:
        page.close()
        process.send_signal(signal.SIGTERM)
        said = process.stdout.read()
        process.wait(30)
        process.stdout.close()
    assert "1 of 3 sentences" in said
    assert process.returncode == 0
    assert (tmp_path / "tb.conllu").read_text() == rows(GOLD[0]) + BLANK.partition("\n\n")[2]


def test_a_key_is_answered_soon(opened, tmp_path):
    """The figures are in the benchmark; here, an upper bound that holds on a busy machine."""
    long = "".join(f"{k}\tword{k}\t_\t_\t_\t_\t_\t_\t_\t_\n" for k in range(1, 101)) + "\n"
    page = opened(make_session(tmp_path, long, toy()))
    for _ in range(5):
        press(page, "2", "Tab")
    page.wait_for_function("() => performance.getEntriesByName('decision').length === 5")
    times = page.evaluate("() => performance.getEntriesByName('decision').map((each) => each.duration)")
    assert sorted(times)[2] < 2000

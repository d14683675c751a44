"""The task of spacy-llm: prompts, recorded answers (made up), and the model of spacy-llm that answers nothing."""

import json
import re

import pytest
import spacy
from spacy.tokens import Doc

from spacy_mindroot.conllu import read_conllu
from spacy_mindroot.errors import CorpusError, CountError
from spacy_mindroot.tools.llm import AnswerWarning, ParseTask, answer_schema, count_tokens, make_parse_task

WORDS = ["They", "left", "early", "."]
GOOD = {"words": WORDS, "heads": [2, 0, 2, 2], "deprels": ["nsubj", "root", "advmod", "punct"]}
LABELS = ["nsubj", "root", "advmod", "punct"]


@pytest.fixture
def treebank(checkout):
    return checkout / "assets" / "treebank" / "train.conllu"


def doc_of(*sentences, vocab=None):
    words = [word for sentence in sentences for word in sentence]
    starts = [i == 0 for sentence in sentences for i in range(len(sentence))]
    return Doc(vocab or spacy.blank("en").vocab, words=words, sent_starts=starts)


def parsed(task, doc, *answers):
    ((_, shards),) = task.generate_prompts([doc])
    (found,) = task.parse_responses([shards], [answers])
    assert found is doc
    return [0 if token.head.i == token.i else token.head.i - token.sent.start + 1 for token in doc]


def test_a_prompt_says_all_that_the_model_needs(treebank):
    task = make_parse_task(treebank, n_examples=2, language="English")
    doc = doc_of(WORDS)
    (((prompt,), (shard,)),) = task.generate_prompts([doc])
    assert shard is doc and prompt.startswith(
        "You annotate sentences in English in the style of Universal Dependencies."
    )
    labels = {label for sentence in read_conllu(treebank) for label in sentence.labels}
    (line,) = re.findall("^Relations: (.*)$", prompt, re.M)
    assert set(line.split(", ")) == labels
    assert prompt.endswith("\nSentence: 1:They 2:left 3:early 4:.\nAnswer:")
    examples = [json.loads(answer) for answer in re.findall(r"^Answer: (\{.*\})$", prompt, re.M)]
    gold = {tuple(own.words): (own.heads, own.labels) for own in read_conllu(treebank)}
    assert len(examples) == 2
    for example in examples:
        assert gold[tuple(example["words"])] == (example["heads"], example["deprels"])
    assert "root, " in make_parse_task().generate_prompts([doc]).__next__()[0][0]
    own = make_parse_task(template="{{ words | length }} {{ numbered }}").prompt(WORDS)
    assert own == "4 1:They 2:left 3:early 4:."


def test_similar_examples_share_rare_words_and_are_not_the_sentence_itself(treebank):
    task = make_parse_task(treebank, n_examples=1)
    sentences = list(read_conllu(treebank))
    for sentence in sentences[:10]:
        (example,) = task._chosen(sentence.words)
        assert example.words != sentence.words
        found = task._chosen([*example.words, "x"])
        assert found == [example]  # all of its words


def test_hard_examples_are_non_projective(treebank, tmp_path):
    task = make_parse_task(treebank, choose="hard", n_examples=3)
    assert task._chosen(WORDS) == task._chosen(["x"])
    rows = [
        "".join(f"{k}\t{w}\t_\tX\t_\t_\t{h}\t{'root' if h == 0 else 'dep'}\t_\t_\n" for k, (w, h) in enumerate(own, 1))
        for own in (
            [("a", 0), ("b", 1)],
            [("a", 3), ("b", 4), ("c", 0), ("d", 3)],  # crossing arcs
            [("a", 0), ("b", 1), ("c", 2), ("d", 3), ("e", 4)],
            [("a", 0), ("b", 0)],  # no tree
        )
    ]
    path = tmp_path / "in.conllu"
    path.write_text("\n".join(rows) + "\n", "utf8")
    hard = make_parse_task(path, choose="hard", n_examples=5)
    assert [len(example.words) for example in hard._chosen(WORDS)] == [2, 5, 4]  # the hardest is the last
    assert [len(example.words) for example in make_parse_task(path, choose="hard", max_words=4)._chosen(WORDS)] == [
        2,
        4,
    ]


def test_examples_are_left_out_where_the_context_is_short(treebank):
    task = make_parse_task(treebank, n_examples=3)
    full, none = task.prompt(WORDS), make_parse_task(labels=task.labels).prompt(WORDS)
    some = task.prompt(WORDS, count_tokens(full) - 1)
    assert count_tokens(none) < count_tokens(some) < count_tokens(full)
    assert task.prompt(WORDS, 1) == none


def test_answers_become_trees_of_each_sentence():
    task = make_parse_task(labels=LABELS)
    doc = doc_of(WORDS, WORDS[1:])
    fewer = {"words": WORDS[1:], "heads": [0, 1, 0], "deprels": ["root", "Advmod", "root"]}
    assert parsed(task, doc, f"Sure!\n```json\n{json.dumps(GOOD)}\n```", json.dumps(fewer)) == [2, 0, 2, 2, 0, 1, 1]
    assert [token.dep_ for token in doc] == ["nsubj", "ROOT", "advmod", "punct", "ROOT", "advmod", "punct"]
    assert [item["why"] for item in doc._.mind_root_report] == ["text around", "unknown label", "extra root", "label"]
    assert task.scorer([])["dep_uas"] is None


def test_an_empty_doc_stays_and_costs_nothing():
    task = make_parse_task(labels=LABELS)
    docs = [doc_of(WORDS), doc_of(), doc_of(WORDS)]
    prompts, shards = zip(*task.generate_prompts(docs), strict=True)
    assert [len(own) for own in prompts] == [1, 0, 1]
    found = list(task.parse_responses(shards, [[json.dumps(GOOD)] * len(own) for own in prompts]))
    assert found == docs and [doc.has_annotation("DEP") for doc in docs[::2]] == [True, True]


def test_samples_vote():
    task = make_parse_task(samples=3, labels=LABELS)
    doc = doc_of(WORDS, WORDS)
    ((prompts, shards),) = task.generate_prompts([doc])
    assert len(prompts) == len(shards) == 6 and len(set(prompts)) == 1
    other = json.dumps(GOOD | {"heads": [3, 0, 2, 2]})
    answers = [json.dumps(GOOD), other, json.dumps(GOOD), other, "no idea", other]
    assert parsed(task, doc, *answers) == [2, 0, 2, 2, 3, 0, 2, 2]


@pytest.mark.parametrize("answers", [["I can't."], [""], [], [json.dumps(GOOD | {"heads": [2, 0, 2]})]])
def test_without_an_answer_there_is_no_tree_and_a_warning(answers):
    doc = doc_of(WORDS)
    with pytest.warns(AnswerWarning, match="sentence 1.*no head that can be used"):
        parsed(make_parse_task(), doc, *answers)
    assert not doc.has_annotation("DEP") and doc.user_data["mindroot_answers"] == [{"answers": answers}]


def test_the_schema_fixes_all_but_the_tree():
    schema = answer_schema(WORDS, LABELS)["properties"]
    assert schema["heads"]["items"] == {"type": "integer", "minimum": 0, "maximum": 4}
    assert schema["deprels"]["items"]["enum"] == LABELS
    assert all(own["minItems"] == own["maxItems"] == 4 for own in schema.values())


def test_tokens_are_counted_roughly():
    assert count_tokens("") == 0
    assert count_tokens("They left , unbelievably") == 1 + 1 + 1 + 3


def test_settings_that_make_no_sense(tmp_path):
    with pytest.raises(CorpusError, match="choose is 'best'"):
        make_parse_task(choose="best")
    with pytest.raises(CountError):
        make_parse_task(samples=0)
    path = tmp_path / "empty.conllu"
    path.write_text("1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n", "utf8")
    with pytest.raises(CorpusError, match="no sentences with trees of up to 0 words"):
        make_parse_task(path, max_words=0)


# ---------------------------------------------------------------------------------------------------------------------
# In spacy-llm


@pytest.fixture
def llm():
    return pytest.importorskip("spacy_llm", reason="needs the extra `llm`")


@pytest.mark.filterwarnings("ignore:Task supports sharding")
def test_the_task_in_a_pipeline_with_recorded_answers(llm, treebank):
    from spacy_llm.registry import registry

    asked = []

    @registry.llm_models("mindroot_test.recorded.v1")
    def recorded():
        def answer(prompts):
            for own in prompts:
                asked.append(list(own))
                yield [json.dumps(GOOD | {"heads": [2, 0, 2, 0]}) for _ in asked[-1]]

        from typing import Iterable  # noqa: UP035 - spacy-llm asks for it

        answer.__annotations__ = {"prompts": Iterable[Iterable[str]], "return": Iterable[Iterable[str]]}
        return answer

    nlp = spacy.blank("en")
    task = {"@llm_tasks": "spacy-mindroot.Parse.v1", "examples": str(treebank), "n_examples": 1}
    nlp.add_pipe("llm", config={"task": task, "model": {"@llm_models": "mindroot_test.recorded.v1"}, "save_io": True})
    docs = list(nlp.pipe([doc_of(*own, vocab=nlp.vocab) for own in ([WORDS, WORDS], [], [WORDS])]))
    assert [len(own) for own in asked] == [2, 0, 1] and len(docs[1]) == 0
    for doc in docs[::2]:
        assert len(list(doc.sents)) == len(doc) / 4
        assert all(sent.root.text == "left" for sent in doc.sents)
        assert all(item["why"] == "extra root" for item in doc._.mind_root_report)
        assert doc.user_data["llm_io"]["llm"]["prompt"][0].startswith("You annotate")


@pytest.mark.filterwarnings("ignore:Task supports sharding")
def test_the_model_that_answers_nothing(llm):
    nlp = spacy.blank("en")
    task = {"@llm_tasks": "spacy-mindroot.Parse.v1"}
    nlp.add_pipe("llm", config={"task": task, "model": {"@llm_models": "spacy.NoOp.v1"}})
    assert isinstance(nlp.get_pipe("llm").task, ParseTask)
    with pytest.warns(AnswerWarning, match="no head that can be used"):
        doc = nlp("They left early .")
    assert not doc.has_annotation("DEP")

"""The external recommender for INCEpTION, asked over HTTP as INCEpTION asks it."""

import json
import urllib.error
import urllib.request

import pytest

pytest.importorskip("cassis", reason="needs the extra inception")
pytest.importorskip("starlette", reason="needs the extra inception")
pytest.importorskip("uvicorn", reason="needs the extra inception")

from annotation_helpers import Running
from cassis import Cas, TypeSystem, load_cas_from_xmi, load_typesystem
from conllu_samples import sentence
from corpora_helpers import make_model

from scorer_helpers import gold_docs
from spacy_mindroot import decode, is_tree
from spacy_mindroot.tools.gold import load_pipeline, score_sentences, unparsed
from spacy_mindroot.web.inception import Recommender, recommender_routes
from spacy_mindroot.web.udpipe import Service, make_app

CORE = "de.tudarmstadt.ukp.dkpro.core.api"
SENTENCE, TOKEN = f"{CORE}.segmentation.type.Sentence", f"{CORE}.segmentation.type.Token"
LAYER, FEATURE = f"{CORE}.syntax.type.dependency.Dependency", "DependencyType"
TEXT = ["They left early.", "We saw them!"]
WORDS = [["They", "left", "early", "."], ["We", "saw", "them", "!"]]


def typesystem(ends=TOKEN, layer=LAYER):
    found = TypeSystem()
    for name in (SENTENCE, TOKEN, "custom.Span"):
        found.create_type(name, supertypeName="uima.tcas.Annotation")
    relation = found.create_type(layer, supertypeName="uima.tcas.Annotation")
    for name, kind in (
        ("Governor", ends), ("Dependent", ends), (FEATURE, "uima.cas.String"), (f"{FEATURE}_score", "uima.cas.Double"),
        ("inception_internal_predicted", "uima.cas.Boolean"),
    ):  # fmt: skip
        found.create_feature(relation, name, kind)
    return found


def make_cas(relations=(), sentences=WORDS):
    """A document with some relations: (sentence, dependent, head, label), as in CoNLL-U."""
    types = typesystem()
    cas = Cas(types)
    cas.sofa_string = "  ".join(" ".join(words) for words in sentences)
    tokens, at = [], 0
    for words in sentences:
        begin, own = at, []
        for word in words:
            at = cas.sofa_string.index(word, at)
            own.append(types.get_type(TOKEN)(begin=at, end=at + len(word)))
            at += len(word)
        tokens.append(own)
        cas.add_all([types.get_type(SENTENCE)(begin=begin, end=at), *own])
    for k, dependent, head, label in relations:
        own = tokens[k][dependent - 1]
        governor = tokens[k][head - 1] if head else own
        values = {"begin": own.begin, "end": own.end, "Governor": governor, "Dependent": own, FEATURE: label}
        cas.add(types.get_type(LAYER)(**values))
    return cas


def request_for(*documents, **metadata):
    """What INCEpTION sends."""
    own = [{"xmi": cas.to_xmi(), "documentId": k, "userId": "ann"} for k, cas in enumerate(documents)]
    metadata = {"layer": LAYER, "feature": FEATURE, "projectId": 7, "anchoringMode": "tokens", "crossSentence": False,
                "range": {"begin": 0, "end": 9}} | metadata  # fmt: skip
    types = documents[0].typesystem.to_xml()
    return {"metadata": metadata, "document": own[0], "documents": own, "typeSystem": types}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(make_model(tmp_path_factory.mktemp("inception") / "model", senter=False))


@pytest.fixture(scope="module")
def server(model):
    service = Service([load_pipeline(model)])
    recommender = Recommender(load_pipeline(model), model)
    app = make_app(service, routes=recommender_routes(recommender))
    with Running(app, limit=4_000_000) as running:
        running.recommender = recommender
        yield running


def ask(server, method, given):
    body = given if isinstance(given, bytes) else json.dumps(given).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{server.url.rstrip('/')}/inception/{method}", body, headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def suggested(server, cas, sentences=WORDS):
    """Ask, and return for each sentence {dependent: (head, label, score)} of what is suggested, and of what is not."""
    status, text = ask(server, "predict", request_for(cas))
    assert status == 200, text
    answer = load_cas_from_xmi(json.loads(text)["document"], load_typesystem(cas.typesystem.to_xml()))
    assert answer.sofa_string == cas.sofa_string
    new, old = [{} for _ in sentences], [{} for _ in sentences]
    for k, span in enumerate(answer.select(SENTENCE)):
        number = {token.begin: i for i, token in enumerate(answer.select_covered(TOKEN, span), 1)}
        for relation in answer.select_covered(LAYER, span):
            dependent, head = number[relation.Dependent.begin], number[relation.Governor.begin]
            found = new if relation.inception_internal_predicted else old
            assert dependent not in found[k]
            score = relation.get(f"{FEATURE}_score")
            found[k][dependent] = (0 if head == dependent else head, relation.get(FEATURE), score)
    return new, old


def trees(new, old):
    return [[(a | b)[i][0] for i in range(1, len(a | b) + 1)] for a, b in zip(new, old, strict=True)]


def test_all_relations_of_a_new_document(server, model):
    new, old = suggested(server, make_cas())
    assert old == [{}, {}]
    for tree in trees(new, old):
        assert len(tree) == 4 and is_tree(tree, single_root=True)
    for own in new:
        assert all(0 < score <= 1 for _, _, score in own.values())
        assert [label for head, label, _ in own.values() if head == 0] == ["root"]


def test_what_is_annotated_stays_and_the_rest_is_decoded_anew(server, model):
    nlp = load_pipeline(model)
    free, _ = suggested(server, make_cas())
    for dependent, head in ((1, 0), (3, 1), (4, 3), (2, 4)):
        new, old = suggested(server, make_cas([(1, dependent, head, "mine")]))
        assert new[0] == free[0] and old[0] == {}, "the other sentence stays"
        assert old[1] == {dependent: (head, "mine", None)} and dependent not in new[1]
        (tree,) = trees(new[1:], old[1:])
        rows = "".join(f"{k}\t{w}\t_\t_\t_\t_\t_\t_\t_\t_\n" for k, w in enumerate(WORDS[1], 1)) + "\n"
        (scored,) = score_sentences(nlp, unparsed(nlp.vocab, [sentence(rows)]))
        assert tree == decode(scored.scores, required=[(dependent, head)]).tolist()


def test_sentences_whose_relations_are_in_no_tree_or_complete_get_no_suggestions(server):
    cycle = [(0, 1, 2, "a"), (0, 2, 1, "b")]
    complete = [(1, 1, 2, "a"), (1, 2, 0, "root"), (1, 3, 2, "b"), (1, 4, 2, "c")]
    new, old = suggested(server, make_cas(cycle + complete))
    assert new == [{}, {}] and [len(own) for own in old] == [2, 4]
    new, _ = suggested(server, make_cas([(0, 1, 0, "root"), (0, 2, 0, "root")]))
    assert new[0] == {} and len(new[1]) == 4


def test_a_sentence_that_is_too_long_gets_no_suggestions(server):
    sentences = [["a"] * 250, ["b", "c"]]
    new, _ = suggested(server, make_cas(sentences=sentences), sentences)
    assert [len(own) for own in new] == [0, 2]


@pytest.mark.parametrize("part", ["xmi", "typeSystem"])
@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-7"])
def test_entities_are_refused(part, encoding, server, tmp_path):
    given = request_for(make_cas())
    text = given["document"]["xmi"] if part == "xmi" else given["typeSystem"]
    doctype = f'<!DOCTYPE r [<!ENTITY e SYSTEM "{tmp_path.as_uri()}">]>'
    doctype = doctype if encoding == "UTF-8" else doctype.encode("utf-7").decode().replace("<", "+ADw-")
    text = f"<?xml version='1.0' encoding='{encoding}'?>{doctype}{text.partition('?>')[2]}"
    given |= {"document": {"xmi": text}} if part == "xmi" else {"typeSystem": text}
    status, answer = ask(server, "predict", given)
    assert status == 400 and "it has a DOCTYPE, or is not in UTF-8" in answer


def test_earlier_suggestions_do_not_count_as_annotation(server):
    cas = make_cas([(0, 1, 3, "old")])
    (relation,) = cas.select(LAYER)
    relation.inception_internal_predicted = True
    status, text = ask(server, "predict", request_for(cas))
    answer = load_cas_from_xmi(json.loads(text)["document"], load_typesystem(cas.typesystem.to_xml()))
    assert status == 200 and len(list(answer.select(LAYER))) == 9


def test_training_begins_with_enough_trees_and_changes_the_suggestions(server, monkeypatch):
    monkeypatch.setattr("spacy_mindroot.web.inception.steps_for", lambda sentences: 2)
    few = make_cas([(1, 1, 2, "a"), (1, 2, 0, "root"), (1, 3, 2, "b"), (1, 4, 2, "c")])
    assert ask(server, "train", request_for(few)) == (204, "")
    server.recommender.wait()
    assert server.recommender.learnt == 0
    docs = [doc for doc in gold_docs(12, per_doc=1) if len(doc) > 1]
    words = [[token.text for token in doc] for doc in docs]
    relations = [
        (k, t.i + 1, 0 if t.head.i == t.i else t.head.i + 1, t.dep_) for k, doc in enumerate(docs) for t in doc
    ]
    before = server.recommender.nlp
    assert ask(server, "train", request_for(make_cas(relations, words)))[0] == 204
    server.recommender.wait()
    assert server.recommender.learnt == len(docs) and server.recommender.nlp is not before
    assert suggested(server, make_cas())[0][0].keys() == {1, 2, 3, 4}


def test_one_training_at_a_time(server):
    with server.recommender._training:
        assert ask(server, "train", request_for(make_cas()))[0] == 429


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (b"{", "The request is no JSON"),
        (b"\xff", "The request is no JSON"),
        ([], "The request has no metadata"),
        ({"metadata": {}}, "has no layer"),
        ({"document": {}}, "has no xmi"),
        ({"document": {"xmi": "<xmi"}}, "can't be read as a CAS"),
        ({"typeSystem": "nonsense"}, "can't be read as a CAS"),
        ({"metadata": {"layer": "custom.Nothing", "feature": FEATURE}}, "There is no layer custom.Nothing"),
        ({"metadata": {"layer": "custom.Span", "feature": FEATURE}}, "has no Governor, Dependent and"),
        ({"metadata": {"layer": LAYER, "feature": "value"}}, "has no Governor, Dependent and value"),
        ({"metadata": {"layer": LAYER, "feature": "Governor"}}, "The feature Governor of the layer"),
        (
            {
                "typeSystem": typesystem("custom.Span", "custom.Relation").to_xml(),
                "metadata": {"layer": "custom.Relation", "feature": FEATURE},
            },
            "are between custom.Span, not between tokens",
        ),
    ],
)
def test_requests_that_can_not_be_answered_are_refused_with_the_reason(change, says, server):
    given = request_for(make_cas()) | change if isinstance(change, dict) else change
    status, text = ask(server, "predict", given)
    assert status == 400 and says in text, text

"""Scores of other libraries: recorded shapes, and freshly initialised models of theirs where they are installed."""

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from spacy_mindroot import decode, is_tree, read_score_file, reduce_labels
from spacy_mindroot.adapters import from_batch, from_supar, recorded_from_stanza, set_scores
from spacy_mindroot.errors import LabelsError, ScoresShapeError
from spacy_mindroot.score_file import write_scored

WORDS = [["They", "left"], ["We", "saw", "it"]]
NAMES = ["<pad>", "nsubj", "obj", "root"]


def batch(rng):
    """A padded batch with ROOT: arcs (2, 5, 5), labels (2, 5, 5, 4)."""
    return rng.normal(size=(2, 5, 5)).astype(np.float32), rng.normal(size=(2, 5, 5, 4)).astype(np.float32)


def test_a_padded_batch(rng):
    arcs, labels = batch(rng)
    short, long = from_batch(arcs, [2, 3], words=WORDS, label_scores=labels, labels=NAMES)
    assert (short.words, long.words, long.label_names) == (*WORDS, NAMES)
    assert np.array_equal(short.scores, arcs[0, 1:3, :3]) and np.array_equal(long.scores, arcs[1, 1:4, :4])
    assert (long.best_labels[:, 0] == 3).all() and (long.best_labels[:, 1:] != 3).all()
    expected = reduce_labels(labels[1, 1:4, :4], root_label=3)[1]
    assert np.array_equal(long.best_labels, expected)
    best = from_batch(arcs, [2, 3], best_labels=labels.argmax(3), labels=NAMES)
    assert np.array_equal(best[0].best_labels, labels[0, 1:3, :3].argmax(2)) and best[0].words == ["_", "_"]


def test_heads_first(rng):
    arcs, labels = batch(rng)
    given = {"words": WORDS, "labels": NAMES}
    normal = from_batch(arcs, [2, 3], label_scores=labels, **given)
    turned = from_batch(
        arcs.transpose(0, 2, 1), [2, 3], label_scores=labels.transpose(0, 2, 1, 3), layout="square_transposed", **given
    )
    for one, other in zip(normal, turned, strict=True):
        assert np.array_equal(one.scores, other.scores) and np.array_equal(one.best_labels, other.best_labels)


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"lengths": [2, 9]}, ScoresShapeError, "9"),
        ({"words": [["They"], ["We", "saw", "it"]]}, ScoresShapeError, "one for each token"),
        ({"labels": NAMES[:3]}, LabelsError, "3 names of labels, but scores of 4"),
        ({"label_scores": None, "best_labels": np.full((2, 5, 5), 7)}, LabelsError, "numbers up to 7"),
    ],
)
def test_what_does_not_fit(change, error, says, rng):
    arcs, labels = batch(rng)
    given = {"lengths": [2, 3], "words": WORDS, "label_scores": labels, "labels": NAMES} | change
    with pytest.raises(error, match=says):
        from_batch(arcs, **given)


def test_to_a_score_file_and_to_a_doc(rng, tmp_path):
    arcs, labels = batch(rng)
    sentences = from_batch(arcs, [2, 3], words=WORDS, label_scores=labels, labels=NAMES)
    write_scored(tmp_path / "x.npz", sentences)
    nlp = spacy.blank("en")
    nlp.add_pipe("mind_root", config={"confidence": True})
    doc = Doc(nlp.vocab, words=WORDS[0] + WORDS[1], sent_starts=[True, False, True, False, False])
    set_scores(doc, sentences)
    parsed = nlp(doc)
    for read, own, span in zip(read_score_file(tmp_path / "x.npz"), sentences, parsed.sents, strict=True):
        assert np.array_equal(read.scores, own.scores) and read.words == own.words
        heads = decode(own.scores)
        assert read.labels(heads) == own.labels(heads)
        assert [0 if t.head.i == t.i else t.head.i - span.start + 1 for t in span] == heads.tolist()
        assert [t.dep_.lower() for t in span] == own.labels(heads) and span[0]._.head_prob > 0


def test_the_form_of_supar_and_diaparser():
    sentence = SimpleNamespace(values=[("1", "2"), ("They", "left"), *[("_", "_")] * 4, [2, 0], ["nsubj", "root"]])
    dataset = SimpleNamespace(sentences=[sentence], probs=[np.array([[0.1, 0, 0.9], [0.7, 0.3, 0]], np.float32)])
    (found,) = from_supar(dataset)
    heads = decode(found.scores)
    assert found.words == ["They", "left"] and heads.tolist() == [2, 0] and found.labels(heads) == ["nsubj", "root"]
    assert np.exp(found.scores[1]) == pytest.approx([0.7, 0.3, 0])


class Stanza:
    """What is used of a `stanza.Pipeline`, with the output of `Parser.forward` for two sentences."""

    def __init__(self, heads, labels):
        self.processors = {"depparse": self}
        self.trainer = self.model = self
        self.vocab = {"deprel": self}
        self.output = (0, [heads, labels])
        self.hooks = []

    def register_forward_hook(self, hook):
        self.hooks.append(hook)
        return SimpleNamespace(remove=lambda: self.hooks.remove(hook))

    def unmap(self, ids):
        return [NAMES[k] for k in ids]

    def __len__(self):
        return 4

    def __call__(self, text):
        for hook in self.hooks:
            hook(self, [None] * 12 + [[3, 4], None, WORDS], self.output)


def test_what_stanza_parses_in_the_block_is_recorded(rng):
    arcs, labels = batch(rng)
    nlp = Stanza(arcs, labels.argmax(3))
    with recorded_from_stanza(nlp) as sentences:
        nlp("They left. We saw it.")
    nlp("Not recorded.")
    assert [sentence.words for sentence in sentences] == WORDS and not nlp.hooks
    assert np.array_equal(sentences[1].scores, arcs[1, 1:4, :4])
    assert sentences[1].label_names == NAMES


# ---------------------------------------------------------------------------------------------------------------------
# Their models


def load(name, reason):
    pytest.importorskip("torch", reason="torch is not installed", exc_type=ImportError)
    return pytest.importorskip(name, reason=reason, exc_type=ImportError)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
def test_tensors_of_torch(dtype, rng):
    torch = load("torch", "torch is not installed")
    arcs, labels = batch(rng)
    tensor = torch.tensor(arcs, dtype=getattr(torch, dtype), requires_grad=True)
    found = from_batch(tensor, torch.tensor([2, 3]), label_scores=torch.tensor(labels), labels=NAMES)
    for own, expected in zip(found, from_batch(arcs, [2, 3]), strict=True):
        assert own.scores == pytest.approx(expected.scores, abs=0.02)


@pytest.mark.filterwarnings("ignore")
def test_a_parser_of_supar(tmp_path, monkeypatch):
    """From sentences to probabilities, with random weights."""
    supar = load("supar.parsers.dep", "supar is not installed")
    monkeypatch.chdir(tmp_path)
    rows = ["\t".join([str(k), w, "_", "_", "_", "_", str(h), r, "_", "_"]) for k, w, h, r in
            [(1, "They", 2, "nsubj"), (2, "left", 0, "root"), (3, "early", 2, "advmod")]]  # fmt: skip
    (tmp_path / "t.conllx").write_text("\n".join(rows) + "\n\n")
    sizes = dict.fromkeys(("n_embed", "n_feat_embed", "n_char_embed", "n_char_hidden", "n_arc_mlp", "n_rel_mlp"), 8)
    parser = supar.BiaffineDependencyParser.build(
        path=str(tmp_path / "model"), train=str(tmp_path / "t.conllx"), feat=["char"], min_freq=1, fix_len=9,
        embed=None, build=True, encoder="lstm", n_pretrained=0, n_encoder_hidden=16, n_encoder_layers=1, verbose=False,
        checkpoint=False, seed=1, delete=set(), device="cpu", **sizes,
    )  # fmt: skip
    torch = import_module("torch")
    for parameter in parser.model.parameters():  # the attention would begin with zeros
        torch.nn.init.normal_(parameter)
    words = [["They", "left", "early"], ["Go", "!"], ["a", "b", "c", "d", "e"]]
    dataset = parser.predict(words, prob=True, verbose=False)
    found = from_supar(dataset)
    assert [sentence.words for sentence in found] == words  # though it sorts them by length
    for sentence, probabilities in zip(found, dataset.probs, strict=True):
        assert np.exp(sentence.scores) == pytest.approx(probabilities.numpy(), abs=1e-5)
        assert np.ptp(sentence.scores) > 1
        assert is_tree(decode(sentence.scores), single_root=True)


def check_forward(output, lengths):
    arcs, labels = output
    names = [f"r{k}" for k in range(labels.shape[-1] - 1)] + ["root"]
    found = from_batch(arcs, lengths, label_scores=labels, labels=names)
    for k, (sentence, n) in enumerate(zip(found, lengths, strict=True)):
        assert np.array_equal(sentence.scores, arcs[k, 1 : n + 1, : n + 1].detach().numpy())
        heads = decode(sentence.scores)
        assert is_tree(heads, single_root=True) and sentence.labels(heads).count("root") == 1


@pytest.mark.filterwarnings("ignore")
def test_the_model_of_diaparser():
    load("transformers", "transformers, which diaparser imports, is not installed")
    load("diaparser.models", "diaparser is not installed")
    torch, model = (import_module(name) for name in ("torch", "diaparser.models"))
    net = model.BiaffineDependencyModel(
        n_words=9, n_feats=9, n_rels=4, n_word_embed=8, n_feat_embed=8, n_char_embed=8, n_lstm_hidden=8, n_mlp_arc=8,
        n_mlp_rel=8, n_lstm_layers=1,
    ).eval()  # fmt: skip
    embed = net.feat_embed.forward
    net.feat_embed.forward = lambda feats: (embed(feats), None)  # 1.1.3 asks for a pair, which only its BERT gives
    words = torch.tensor([[1, 2, 3, 4], [1, 2, 3, 0]])  # ROOT, words, padding
    check_forward(net(words, words.unsqueeze(2).repeat(1, 1, 3)), [3, 2])


@pytest.mark.filterwarnings("ignore")
def test_the_attention_of_stanza():
    torch = load("torch", "torch is not installed")
    biaffine = load("stanza.models.common.biaffine", "stanza is not installed")
    torch.manual_seed(1)
    arcs = biaffine.DeepBiaffineScorer(6, 6, 8, 1, pairwise=True, dropout=0).eval()
    rels = biaffine.DeepBiaffineScorer(6, 6, 8, 4, pairwise=True, dropout=0).eval()
    states = torch.randn(2, 5, 6)
    check_forward((arcs(states, states).squeeze(3), rels(states, states)), [4, 2])

"""Parts of speech as features: gradients."""

from scorer_helpers import WIDTH, N, gradient_errors, randomise, vectors
from spacy_mindroot.arc_scorer.tag_features import TagFeatures


def test_gradients(rng):
    X = vectors(rng)
    model = TagFeatures(3, n_tags=4)
    model.initialize(X=X)
    randomise(model, rng)
    on_vectors, on_scores = rng.normal(size=(N, WIDTH + 3)).astype("f"), rng.normal(size=(N, 4)).astype("f")

    def loss():
        features, scores = model.predict(X)
        return float((features * on_vectors).sum() + (scores * on_scores).sum())

    _, backprop = model.begin_update(X)
    dX = backprop((on_vectors, on_scores))
    arrays = [X, *(model.get_param(name) for name in model.param_names)]
    gradients = [dX, *(model.get_grad(name) for name in model.param_names)]
    assert max(gradient_errors(loss, arrays, gradients, rng, step=1e-2)) < 2e-2

"""The error classes: one base, and what they carry."""

import inspect
import pickle

import pytest

from spacy_mindroot import MindRootError, decode, errors

CLASSES = [value for _, value in inspect.getmembers(errors, inspect.isclass) if value.__module__ == errors.__name__]


@pytest.mark.parametrize("error", CLASSES)
def test_every_error_is_a_value_error_with_a_docstring(error):
    assert issubclass(error, MindRootError) and issubclass(error, ValueError)
    assert error.__doc__
    private = (errors.CountError, errors.MissingPackageError, errors.SeedError, errors.VoteError)
    assert (error.__name__ in errors.__all__) != (error in private)


def test_lack_of_memory_is_a_memory_error_too():
    with pytest.raises(MemoryError):
        raise errors.NotEnoughMemoryError("none left")


def test_decoding_errors_say_where():
    error = errors.DecodingError("no", sentence=3, dependent=2, head=1)
    assert (str(error), error.sentence, error.dependent, error.head) == ("no", 3, 2, 1)
    assert (errors.DecodingError("no").sentence, errors.DecodingError("no").dependent) == (0, 0)


def test_a_conflict_names_its_first_arc_and_all_others():
    error = errors.ConflictError("no", required=[], forbidden=[(4, 2), (4, 0)], sentence=1)
    assert (error.sentence, error.dependent, error.head) == (1, 4, 2)
    assert (error.required, error.forbidden) == ([], [(4, 2), (4, 0)])


def test_errors_travel_between_processes():
    """As they do from the workers of `nlp.pipe(n_process=2)`."""
    with pytest.raises(errors.ConflictError) as caught:
        decode([[0, 0, 0], [0, 0, 0]], required=[(1, 2), (2, 1)])
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value) and copy.required == [(1, 2), (2, 1)] and copy.dependent == 1
    error = errors.NoHeadError("no", sentence=2, dependent=1, head=0)
    assert pickle.loads(pickle.dumps(error)).sentence == 2

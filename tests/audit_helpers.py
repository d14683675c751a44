"""Audits of a few sentences, for tests."""

from spacy_mindroot.tools.audit.measures import Tally, audit_sentences


def summarize(audited):
    tally = Tally()
    for each in audited:
        tally.add(each)
    return tally.summarize()


def audit(*sentences):
    audited = list(audit_sentences(sentences, source="here"))
    return audited, summarize(audited)

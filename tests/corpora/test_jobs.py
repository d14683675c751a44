"""What goes between the command and its workers, as JSON too."""

import json
from dataclasses import asdict

from spacy_mindroot.corpora.jobs import Record, Settings
from spacy_mindroot.corpora.reading import Columns


def test_settings_are_kept_as_json():
    settings = Settings("jsonl", Columns("body", "key", True), True, 3, 10)
    assert Settings.from_json(json.loads(json.dumps(asdict(settings)))) == settings


def test_the_manifest_has_numbers_where_a_record_has_reasons():
    record = Record("000000.000000", "a.conllu", "a.txt", 0, 9, rejected=[["a.txt:0", "why"]])
    assert Record(**json.loads(json.dumps(asdict(record)))) == record
    line = record.manifest_line()
    assert (line["rejected"], line["notes"]) == (1, 0) and "mismatch" not in line

"""Files as people have them: what is read, and what is refused with the line and the way out."""

import gzip
import io
import os
import pickle
import re
import time
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigtext.metrics import NAMES, get
from sigtext.readers import (
    check_lengths,
    extra_line,
    read_labels,
    read_numbers,
    read_segments,
)
from sigtext.result import InputError


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty current folder, and a function that writes a file into it."""
    monkeypatch.chdir(tmp_path)

    def write(name, content):
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(data)
        return name

    return write


def refused(function, *args, **how):
    """The code and the text of the InputError that a call raises."""
    with pytest.raises(InputError) as caught:
        function(*args, **how)
    text = str(caught.value)
    assert all(len(line) <= 80 for line in text.split("\n")), text
    assert isinstance(caught.value, ValueError)
    return caught.value.code, text


# --- segments


@pytest.mark.parametrize(
    "data, lines",
    [
        (b"", []),
        (b"\n", [""]),
        (b"\n\n", ["", ""]),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\n\n", ["a", ""]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\r\r\nb", ["a\r", "b"]),
        (b"a\rb\n", ["a\rb"]),
        (b"\xef\xbb\xbfa\nb\n", ["a", "b"]),
        (b"\xef\xbb\xbf\xef\xbb\xbfa\n", ["\ufeffa"]),
        (b"a\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),
        (b"a\x0bb\x0cc\n", ["a\x0bb\x0cc"]),
        (b"a\x1cb\x1dc\x1ed\n", ["a\x1cb\x1dc\x1ed"]),
        (b" a \t b \n", [" a \t b "]),
        ("a\u2028b\u2029c\x85d\n".encode(), ["a\u2028b\u2029c\x85d"]),
        ("e\u0301\n\u00e9\n".encode(), ["e\u0301", "\u00e9"]),
        (b"a\x00b\n", ["a\x00b"]),
        (b"PK\x03\x04 is how a zip begins\n", ["PK\x03\x04 is how a zip begins"]),
    ],
)
def test_lines(here, data, lines):
    assert read_segments(here("x", data)) == lines


text = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))


@settings(max_examples=300, deadline=None)
@given(st.lists(text), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_what_is_written_is_read(tmp_path_factory, lines, end, mark):
    """Any strings without LF come back, whatever else they hold.

    A carriage return at the end of a segment needs CRLF line ends to survive, and a
    first segment that begins with U+FEFF needs a byte order mark before it.
    """
    if end == "\n":
        lines = [line.rstrip("\r") for line in lines]
    mark = mark or (bool(lines) and lines[0].startswith("\ufeff"))
    path = tmp_path_factory.getbasetemp() / "round.txt"
    data = "".join(line + end for line in lines).encode()
    path.write_bytes(b"\xef\xbb\xbf" * mark + data)
    assert read_segments(path) == lines


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1", "cp1252"])
def test_other_encodings(here, encoding):
    name = here("x", "sch\u00f6n\nna ja\n".encode(encoding))
    assert read_segments(name, encoding) == ["sch\u00f6n", "na ja"]


def test_skip(here):
    name = here("x", "marker\na\nb\n")
    assert read_segments(name, skip=1) == ["a", "b"]
    assert read_segments(name, skip=9) == []
    assert read_labels(name, skip=2) == ["b"]


# --- files that cannot be read


def test_bytes_that_are_not_utf8(here):
    name = here("sys.A.txt", b"fine\n" * 87 + b"x" * 30 + b"\xe9 more\n")
    assert refused(read_segments, name) == (
        "encoding",
        "text needs to be UTF-8\n"
        '  sys.A.txt  line 88, byte 31 of the line: 0xE9 (in Latin-1: "\u00e9")\n'
        "  help: iconv -f latin1 -t utf-8 sys.A.txt > NEW.txt   or   --encoding "
        "latin-1",
    )


@pytest.mark.parametrize(
    "data, place",
    [
        (b"\xff", "line 1, byte 1"),
        (b"a\n\x80", "line 2, byte 1"),
        (b"\xef\xbb\xbfab\xc3\n", "line 1, byte 6"),
        (b"a\r\nbc\xe2\x82\n", "line 2, byte 3"),
        ("\u00e9\u00e9\n\u00e9".encode() + b"\xfe", "line 2, byte 3"),
        (b"\xed\xa0\x80\n", "line 1, byte 1"),
    ],
)
def test_place_of_a_bad_byte(here, data, place):
    code, text = refused(read_segments, here("x", data))
    assert code == "encoding" and f"{place} of the line: 0x" in text


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_recognised(here, encoding):
    code, text = refused(
        read_segments, here("x.txt", "ordinary text\n".encode(encoding))
    )
    assert code == "encoding" and "UTF-16" in text and "--encoding utf-16" in text


def test_other_encoding_that_fails(here):
    code, text = refused(read_segments, here("x", b"abc\ndef"), "utf-16")
    assert code == "encoding" and "needs to be utf-16" in text and "of the file" in text
    code, text = refused(read_segments, here("y", b"ab\xe9"), "ascii")
    assert "line 1, byte 3" in text


@pytest.mark.parametrize(
    "name, near", [("utf9", "utf"), ("latin9x", "latin"), ("", "")]
)
def test_unknown_encoding(here, name, near):
    code, text = refused(read_segments, here("x", "a\n"), name)
    assert code == "unknown-encoding" and near in text
    assert refused(read_segments, "x", "rot13")[0] == "unknown-encoding"


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("x.txt", "text")
    return file.getvalue()


@pytest.mark.parametrize(
    "data, kind",
    [
        (pickle.dumps({"a": [1.5] * 9}), "a Python pickle, which is never opened"),
        (gzip.compress(b"text\n"), "gzip data"),
        (zipped(), "a zip archive"),
        (b"PAR1\x15\x04\x15\x00\xff", "a Parquet table"),
        (b"\x93NUMPY\x01\x00v\x00", "a NumPy array"),
        (b"\x89HDF\r\n\x1a\n", "HDF5 data"),
        (b"SQLite format 3\x00\x10\x00", "an SQLite database"),
    ],
)
def test_no_text_file(here, data, kind):
    code, text = refused(read_segments, here("results.dat", data))
    assert code == "unknown-format" and kind in text
    assert text.startswith("results.dat is no text file\n  It starts with the bytes ")
    assert "  help: " in text


def test_missing_file_shows_a_near_name(here):
    here("refA.txt", "x\n")
    assert refused(read_segments, "ref_A.txt") == (
        "no-such-file",
        "ref_A.txt does not exist\n"
        "  help: a file with a similar name is in the same folder: refA.txt",
    )
    assert "similar" not in refused(read_segments, "zzz")[1]
    assert "There is no folder nowhere." in refused(read_segments, "nowhere/a.txt")[1]
    os.mkdir("sub")
    assert "The folder sub is there" in refused(read_segments, "sub/a.txt")[1]


def test_folder_in_place_of_a_file(here):
    os.mkdir("outputs")
    code, text = refused(read_segments, "outputs")
    assert code == "not-a-file" and text.startswith(
        "outputs is a folder and not a file"
    )


def test_file_that_the_system_refuses(here, monkeypatch):
    name = here("x", "a\n")

    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    code, text = refused(read_segments, name)
    assert code == "unreadable-file" and "Permission denied" in text


# --- numbers


@pytest.mark.parametrize(
    "content, metric, rows",
    [
        ("1\n0\n", "accuracy", [[1], [0]]),
        ("0.5\n-2\n+1e-3\n.5\n7.\n", "mean", [[0.5], [-2], [0.001], [0.5], [7]]),
        ("-0.000000\n", "mean", [[0]]),
        (" 1\n2 \n", "mean", [[1], [2]]),
        ("score\n1\n", "mean", [[1]]),
        ("Score\r\n1\r\n", "mean", [[1]]),
        ("\ufeff1\n2", "mean", [[1], [2]]),
        ("3\t10\n0\t4\n", "wer", [[3, 10], [0, 4]]),
        ("3,10\n0,4\n", "wer", [[3, 10], [0, 4]]),
        ("3 10\n0   4\n", "wer", [[3, 10], [0, 4]]),
        ("3, 10\n0, 4\n", "wer", [[3, 10], [0, 4]]),
        ("tp,fp,fn\n1,2,3\n", "f1", [[1, 2, 3]]),
        ("tp\tfp\tfn\n1\t2\t3\n", "f1", [[1, 2, 3]]),
        ("-1\t2\n", "ratio", [[-1, 2]]),
        ("", "mean", []),
        ("score\n", "mean", []),
    ],
)
def test_numbers(here, content, metric, rows):
    got = read_numbers(here("x", content), metric)
    assert got.dtype == float and got.shape == (len(rows), len(get(metric).columns))
    assert got.tolist() == rows


def test_a_metric_object_and_a_name_read_the_same(here):
    name = here("x", "1,2,3\n")
    assert (read_numbers(name, "f1") == read_numbers(name, get("f1"))).all()


@pytest.mark.parametrize(
    "cell",
    [
        *("nan", "NaN", "-nan", "inf", "-Infinity", "1e999"),
        *("N/A", "None", "null", "", "-", ".", "e5", "1e", "abc", "0x10", "1_000"),
        *("1 000", '"0.5"', "1.2.3", "\u0661", "\uff11", "1\u00a0", "--1", "1;2"),
    ],
)
def test_no_number(here, cell):
    code, text = refused(read_numbers, here("b.csv", f"0.5\n0.25\n{cell}\n1\n"))
    assert code in ("not-a-number", "columns") and "b.csv  line 3" in text, text
    assert "  help: " in text


def test_missing_scores_are_counted(here):
    lines = ["0.5"] * 1000
    for i in (411, 870, 871, 872, 873, 874):
        lines[i] = "nan"
    code, text = refused(read_numbers, here("b.csv", "\n".join(lines)))
    assert code == "not-a-number"
    assert text.startswith(
        "scores need to be finite numbers\n"
        "  b.csv line 412, column score: nan; line 871: nan; line 872: nan; line 873:\n"
        "  nan; line 874: nan; 6 of 1,000 lines\n"
        "  help: find out why they are missing"
    )


def test_lines_are_counted_in_the_file(here):
    content = "marker\nscore\n1\nN/A\n"
    _, text = refused(read_numbers, here("a.csv", content), "mean", skip=1)
    assert 'a.csv  line 4, column score: "N/A"' in text


def test_a_heading_is_shown_and_not_dropped(here):
    _, text = refused(read_numbers, here("a.csv", "acc\n1\n0\n"), "accuracy")
    assert 'line 1, column right: "acc"' in text
    assert "if line 1 is a heading: --skip-lines a.csv:1" in text


@pytest.mark.parametrize("skip", [0, 1])
def test_a_heading_orders_the_columns(here, skip):
    rows = "7\t1\t2\n0\t3\t4\n"
    usual = read_numbers(here("a.tsv", "tp\tfp\tfn\n" + rows), "f1", skip=skip)
    other = read_numbers(here("b.tsv", "fp\tTP\tfn\n" + rows), "f1", skip=skip)
    assert usual.tolist() == [[7, 1, 2], [0, 3, 4]]
    assert other.tolist() == [[1, 7, 2], [3, 0, 4]]
    _, text = refused(read_numbers, here("c.tsv", "fp\ttp\tfn\n1\tx\t2\n"), "f1")
    assert 'c.tsv  line 2, column tp: "x"' in text


def test_whole_numbers_that_a_float_rounds(here):
    _, text = refused(read_numbers, here("a.txt", "3\n9007199254740993\n"))
    assert "a.txt  line 2: 9007199254740993" in text and "in common" in text
    read_numbers(here("b.txt", "9007199254740992\n1e300\n-1e17\n"))


def test_text_in_place_of_numbers(here):
    _, text = refused(read_numbers, here("a.txt", "the cat sat\non the mat\n"))
    assert 'a.txt  line 1: "the cat sat"; 2 of 2 lines are text' in text
    assert "outputs are text and need what they are scored against: --reference" in text


@pytest.mark.parametrize(
    "content, metric, shown",
    [
        ("0,71\n0,5\n1\n", "mean", 'line 1, column score: "0,71"; 2 of 3 lines have'),
        ("1\n0,5\n", "mean", 'line 2, column score: "0,5"; 1 of 2 lines have'),
        ("1,5\t2\n0\t3,5\n", "ratio", 'line 1, column numerator: "1,5"; 2 of 2'),
        ("1,5;2\n0;3,5\n", "ratio", 'line 1, column numerator: "1,5"; 2 of 2'),
    ],
)
def test_decimal_commas(here, content, metric, shown):
    code, text = refused(read_numbers, here("a.csv", content), metric)
    assert code == "not-a-number" and shown in text.replace("\n  ", " ")
    assert "if it is a decimal comma, write a point: sed 's/,/./g' a.csv" in text


@pytest.mark.parametrize(
    "content, metric, what, found",
    [
        ("12\t3\n", "f1", "f1 needs 3 numbers a line: tp, fp, fn", 'has 2: "12<TAB>3"'),
        ("1\t2\t3\n", "wer", "wer needs 2 numbers a line: edits, ref", "has 3: "),
        ("1\t2\n1\t2\n1\n", "wer", "wer needs 2 numbers a line: edits", "line 3 has 1"),
        ("1.5 2\n", "mean", "mean needs 1 number a line: score", "line 1 has 2"),
    ],
)
def test_wrong_number_of_columns(here, content, metric, what, found):
    code, text = refused(read_numbers, here("a.tsv", content), metric)
    assert code == "columns" and text.startswith(what) and found in text
    assert "  help: " in text


def test_accuracy_takes_zero_and_one(here):
    lines = ["1", "0", "0.75", *["1"] * 783, *["0.5"] * 213, "2"]
    code, text = refused(read_numbers, here("a.txt", "\n".join(lines)), "accuracy")
    assert (code, text) == (
        "not-zero-one",
        "accuracy needs 0 or 1 on every line\n"
        "  a.txt  line 3: 0.75; 215 of 1,000 lines are neither\n"
        "  help: --metric mean compares average scores",
    )


@pytest.mark.parametrize("metric", ["wer", "precision", "recall", "f1"])
def test_counts_are_not_negative(here, metric):
    columns = get(metric).columns
    row = "\t".join("1" for _ in columns[1:])
    code, text = refused(read_numbers, here("a", f"1\t{row}\n-1\t{row}\n"), metric)
    assert code == "negative-count" and f"line 2, column {columns[0]}: -1" in text


def test_denominators_are_not_negative(here):
    code, text = refused(read_numbers, here("a", "-1\t2\n1\t-2\n"), "ratio")
    assert code == "negative-count" and "line 2, column denominator: -2" in text


@pytest.mark.parametrize("metric", [n for n in NAMES if get(n).is_text])
def test_text_metrics_have_no_numbers(here, metric):
    assert refused(read_numbers, here("a", "1\n"), metric)[0] == "no-references"


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.lists(st.floats(-1e12, 1e12), min_size=2, max_size=2), min_size=1),
    st.sampled_from(["\t", ",", " ", " , ", "  "]),
    st.sampled_from(["", " "]),
)
def test_numbers_come_back_to_the_last_bit(tmp_path_factory, rows, sep, pad):
    rows = [[x, abs(y)] for x, y in rows]
    path = tmp_path_factory.getbasetemp() / "numbers.txt"
    path.write_text("".join(pad + sep.join(map(repr, row)) + "\n" for row in rows))
    assert read_numbers(path, "ratio").tolist() == rows


cell = st.sampled_from(
    "0 1 0.5 -2 1e5 0,5 nan inf N/A x 1_0 .5 5. 1e999 \u0661".split()
)
row = st.lists(st.one_of(cell, st.just("")), min_size=1, max_size=3)


@settings(max_examples=500, deadline=None)
@given(
    st.lists(row, min_size=1, max_size=6),
    st.sampled_from(["\t", ",", " ", ";"]),
    st.sampled_from(["mean", "accuracy", "ratio", "f1"]),
)
def test_every_line_is_read_or_refused(tmp_path_factory, rows, sep, metric):
    """One finite row a line, each number as Python reads it, or an error with the file."""
    path = tmp_path_factory.getbasetemp() / "cells.txt"
    lines = [sep.join(row) for row in rows]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    try:
        got = read_numbers(path, metric)
    except InputError as error:
        assert "cells.txt" in str(error) and "line " in str(error)
        return
    assert np.isfinite(got).all() and len(got) == len(lines)
    cells = [re.split(r"[\t, ] *", line.strip(" ")) for line in lines]
    assert got.tolist() == [[float(c) for c in row] for row in cells]


def test_the_careful_path_reads_what_the_fast_one_reads(here, monkeypatch):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(500, 1))
    name = here("x", "".join(f"{x!r}\n" for x in numbers[:, 0].tolist()))
    fast = read_numbers(name)
    monkeypatch.setattr("sigtext.readers.fast_numbers", lambda *_: None)
    assert (fast == read_numbers(name)).all() and (fast == numbers).all()


def test_a_million_numbers_in_seconds(here):
    name = here("x", "0.123456\n" * 1_000_000)
    start = time.process_time()
    assert read_numbers(name).shape == (1_000_000, 1)
    assert time.process_time() - start < 3, "about half a second on a quiet machine"


# --- labels


def test_the_whole_line_is_the_label(here):
    assert read_labels(here("d.tsv", "news\t1\r\nnews\t2\r\n")) == [
        "news\t1",
        "news\t2",
    ]


@pytest.mark.parametrize("blank", ["", " ", "\t"])
def test_missing_labels(here, blank):
    code, text = refused(read_labels, here("d.txt", f"a\n{blank}\nb\n{blank}\n"))
    assert code == "missing-label" and "d.txt  line 2, 4: empty; 2 of 4 lines" in text


# --- files that do not go together

A = [
    f"{w} prices, {w}-sellers, {w}-buyers"
    for w in "tea oil ice rye tin wax hay".split()
]


def test_equal_lengths_pass():
    check_lengths([("a", A), ("b", A)], [("r", A)], [("d", A)])
    check_lengths([("a", np.ones((3, 1))), ("b", np.ones((3, 1)))])


def test_systems_of_unequal_length():
    code, text = refused(check_lengths, [("sys.A.txt", A), ("B.txt", A[:3] + A[4:])])
    assert code == "lengths-differ"
    assert text == (
        "the two systems need the same number of segments\n"
        "  sys.A.txt  7 lines\n"
        "  B.txt      6 lines\n"
        "  They go together up to line 3 and look shifted by one line from 4 on.\n"
        "  help: a line may have been lost or split where the outputs were written"
    )


def test_numbers_of_unequal_length():
    _code, text = refused(
        check_lengths, [("a", np.ones((4, 1))), ("b", np.ones((3, 1)))]
    )
    assert "  a  4 lines\n  b  3 lines\n" in text


def test_reference_with_a_marker():
    _code, text = refused(
        check_lengths, [("A", A), ("B", A)], [("R", ["CANARY 26b", *A])]
    )
    assert text == (
        "outputs and reference need the same number of segments\n"
        "  A, B  7 lines each\n"
        "  R     8 lines\n"
        '  Line 1 of R is "CANARY 26b".\n'
        "  help: --skip-lines R:1 if that line is no segment"
    )


def test_second_reference_is_checked_too():
    files = [("r1", A), ("r2", A[:-1])]
    assert "r2    6 lines" in refused(check_lengths, [("A", A), ("B", A)], files)[1]


def test_labels_by_document():
    labels = [("docs.txt", ["one", "two", "three"])]
    _code, text = refused(check_lengths, [("A", A), ("B", A)], [], labels)
    assert text == (
        "clusters need one label for each of the 7 segments\n"
        "  docs.txt  3 lines, all different: one label a document, perhaps\n"
        "  help: write a document's label on the line of each of its segments"
    )


def test_labels_with_a_heading():
    labels = [("docs.txt", ["document", *["one"] * 7])]
    _, text = refused(check_lengths, [("A", A), ("B", A)], [], labels)
    assert "--skip-lines docs.txt:1 if that line is no segment" in text


@pytest.mark.parametrize("empty", range(4))
def test_empty_files(empty):
    files = [("A", A), ("B", A), ("R", A), ("D", A)]
    files[empty] = (files[empty][0], [])
    code, text = refused(check_lengths, files[:2], files[2:3], files[3:])
    assert code == "no-segments" and text == f"{files[empty][0]} holds no segment"


def test_everything_left_out():
    _, text = refused(check_lengths, [("A", []), ("B", A)], skipped={"A": 9})
    assert "9 lines were left out at the top." in text


def test_old_line_ends_are_noticed():
    old = ["a\rb\rc\rd\re\rf\rg"]
    _, text = refused(check_lengths, [("A", A), ("B", old)])
    assert "B has 6 carriage returns inside its lines." in text


@pytest.mark.parametrize("name", ["GPT-4", "TSU-HITs", "ONLINE-B"])
@pytest.mark.parametrize("lost", [0, 1, 411, 996, 997])
def test_a_lost_line_is_found_in_real_outputs(data, name, lost):
    folder = data / "wmt24_ende"
    whole = read_segments(folder / f"sys.{name}.txt")
    reference = read_segments(folder / "refA.txt")
    assert extra_line(reference, whole[:lost] + whole[lost + 1 :]) == lost


def test_no_shift_is_invented():
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(500)])
    long = [" ".join(rng.choice(words, 12)) for _ in range(60)]
    short = [" ".join(rng.choice(words, 12)) for _ in range(59)]
    assert extra_line(long, short) is None
    assert extra_line(["a b"] * 60, ["a b"] * 59) is None
    assert extra_line(long, long[:-2]) is None


# --- real files


def test_real_files_keep_their_counts(data):
    wmt = data / "wmt24_ende"
    assert all(len(read_segments(p)) == 998 for p in wmt.glob("*.txt"))
    labels = read_labels(wmt / "docs.tsv")
    assert len(labels) == 998 and len(set(labels)) == 171
    wmt21 = data / "wmt21_ende_mqm"
    assert all(
        len(read_segments(p)) == 1002
        for p in wmt21.glob("*.txt")
        if p.name != "README.md"
    )


def test_crlf_labels_equal_lf_labels(data):
    folder = data / "sst2_labels"
    gold = read_segments(folder / "gold.txt")
    cnn = read_segments(folder / "cnn.txt")
    assert len(gold) == len(cnn) == 1821
    assert 0.5 < np.mean([a == b for a, b in zip(gold, cnn, strict=True)]) < 1


def test_tagged_files_keep_their_blank_lines(data):
    tags = [
        read_segments(data / "conll03_tags" / f"{n}.tags") for n in ("gold", "flair")
    ]
    assert [len(t) for t in tags] == [49888, 49888] and tags[0][-1] == ""
    ner = data / "wnut17_ner"
    assert len(read_segments(ner / "gold.emerging.test.annotated")) == 24681
    assert len(read_segments(ner / "sub.uh_ritual")) == 24680


def test_missing_human_scores_are_refused(data, here):
    rows = read_segments(data / "wmt21_ende_mqm" / "mqm_avg_seg_scores.tsv")[1:]
    mine = [r.split()[1] for r in rows if r.split("\t")[0] == rows[0].split("\t")[0]]
    code, text = refused(read_numbers, here("mqm.txt", "\n".join(mine) + "\n"))
    assert code == "not-a-number" and '"None"' in text and "475 of 1,002 lines" in text


def test_tables_are_refused_with_their_columns(data):
    table = data / "gsm8k_llm" / "correct.csv"
    code, text = refused(read_numbers, table, "accuracy")
    assert code in ("columns", "not-a-number") and "correct.csv" in text

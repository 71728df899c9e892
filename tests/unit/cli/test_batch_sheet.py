"""The sample sheet of ``gpuasm batch``."""

from __future__ import annotations

import pytest

from gpuasm.cli.batch_sheet import SheetSample, read_sheet
from gpuasm.errors import DataError

HEADER = "sample\treads_1\treads_2\n"


@pytest.fixture
def sheet(tmp_path):
    def write(text):
        path = tmp_path / "sheet.tsv"
        path.write_text(text)
        return path

    return write


def test_lanes_of_one_name_are_one_sample(sheet):
    samples = read_sheet(sheet(f"{HEADER}a\t./1.fq\t2.fq\nb\t5.fq\t\n# c\t7.fq\na\t3.fq\t4.fq\n"))
    assert samples == [SheetSample("a", (("./1.fq", "2.fq"), ("3.fq", "4.fq"))), SheetSample("b", (("5.fq",),))]
    assert samples[0].arguments() == ["-1", "./1.fq", "-2", "2.fq", "-1", "3.fq", "-2", "4.fq"]
    assert samples[1].arguments() == ["--single", "5.fq"]
    assert samples[0].first_files == ("1.fq", "2.fq")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected the column sample, found none"),
        ("sample\tfile\na\t1.fq\n", "expected the column reads_1, found none"),
        ("sample\treads_1\treads_1\n", "found two columns 'reads_1'"),
        (HEADER, "expected a sample, found none"),
        (f"{HEADER}a\t1.fq\t\tmore\n", "line 2: expected a cell for each title, found 4 cells for 3 titles"),
        (f"{HEADER}../a\t1.fq\t\n", "line 2: expected a name of letters"),
        (f"{HEADER}a\t\t2.fq\n", "line 2: expected a file in reads_1, found none"),
        (f"{HEADER}a\t-\t\n", "line 2: expected files, found standard input"),
        (f"{HEADER}a\t1.fq\t1.fq\n", "found 1.fq twice"),
        (f"{HEADER}a\t1.fq\t2.fq\na\t2.fq\t3.fq\n", "line 3: expected each file once in a sample, found 2.fq twice"),
        (f"{HEADER}a\t1.fq\t2.fq\na\t3.fq\t\n", "line 3: expected lanes that all have reads_2"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(sheet, text, message):
    with pytest.raises(DataError, match=message):
        read_sheet(sheet(text))

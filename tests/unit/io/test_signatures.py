"""Signature files: as sourmash writes them, in and out."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from gpuasm.errors import DataError, NoInputError
from gpuasm.io.signatures import Signature, read_signatures, write_signatures

# sourmash 4.9.4, of the text ACGTTTGACCATCGGATTACCGATTAA
SOURMASH = (
    '[{"class":"sourmash_signature","email":"","hash_function":"0.murmur64","filename":"f","name":"a","license":"CC0",'
    '"signatures":[{"num":5,"ksize":21,"seed":42,"max_hash":0,"mins":[1650261036190268331,5934265885903864213,'
    '10055883138156754102,12269785088855400611,13917314678275188836],"md5sum":"7caf9a40ffdf530e323d847b965fb00c",'
    '"molecule":"DNA"}],"version":0.4}]'
)


def test_sourmash_is_read_and_written_again(tmp_path):
    path = tmp_path / "a.sig"
    path.write_text(SOURMASH)
    (found,) = read_signatures(path)
    assert (found.name, found.file, found.k, found.size, found.max_hash, found.seed) == ("a", "f", 21, 5, 0, 42)
    assert found.hashes.dtype == np.uint64
    write_signatures(tmp_path / "b.sig", [found])
    assert json.loads((tmp_path / "b.sig").read_text()) == json.loads(SOURMASH)


def test_several_and_compressed(tmp_path):
    signatures = [Signature(f"s{i}", "x.fa", 31, 0, 1 << 63, 42, np.arange(i, dtype=np.uint64)) for i in range(3)]
    write_signatures(tmp_path / "a.sig", signatures)
    packed = tmp_path / "a.sig.gz"
    packed.write_bytes(gzip.compress((tmp_path / "a.sig").read_bytes()))
    found = read_signatures(packed)
    assert [(one.name, one.hashes.tolist()) for one in found] == [("s0", []), ("s1", [0]), ("s2", [0, 1])]


def test_other_molecules_are_passed_over(tmp_path):
    data = json.loads(SOURMASH)
    data[0]["signatures"] += [{**data[0]["signatures"][0], "molecule": "protein"}]
    path = tmp_path / "a.sig"
    path.write_text(json.dumps(data))
    assert len(read_signatures(path)) == 1
    data[0]["signatures"] = data[0]["signatures"][1:]
    path.write_text(json.dumps(data))
    with pytest.raises(DataError, match="a sketch of DNA"):
        read_signatures(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SOURMASH[:90], "JSON"),
        ("[1]", "as sourmash writes them"),
        (SOURMASH.replace('"mins"', '"hashes"'), "with 'mins', found other JSON, none"),
        (SOURMASH.replace("0.murmur64", "1.other"), "1.other"),
        (SOURMASH.replace("[165", "[-165"), "as sourmash writes them"),
        (SOURMASH.replace("[165", '["x",165'), "as sourmash writes them"),
    ],
)
def test_damaged_files_are_refused(tmp_path, text, message):
    path = tmp_path / "a.sig"
    path.write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        read_signatures(path)
    assert str(path) in str(caught.value)


def test_missing_and_cut_files(tmp_path):
    with pytest.raises(NoInputError):
        read_signatures(tmp_path / "none.sig")
    path = tmp_path / "cut.sig.gz"
    path.write_bytes(gzip.compress(SOURMASH.encode())[:-20])
    with pytest.raises(DataError, match="complete file"):
        read_signatures(path)

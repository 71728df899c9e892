"""Both decoders of gzip files: the same text, and the same errors about damage."""

from __future__ import annotations

import gzip
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuasm.io.compression import BrokenStreamError, decoded, decoded_gzip

TEXT = b"".join(b"@read_%d\nACGTNACGT\n+\nIIIIFIIII\n" % number for number in range(3000))
members = st.lists(st.tuples(st.integers(0, len(TEXT)), st.integers(0, 9)), min_size=1, max_size=4)
harm = st.sampled_from(["none", "cut off", "one byte changed", "garbage", "zeros", "a cut member"])


def chunks(data, size):
    return (data[i : i + size] for i in range(0, len(data), size))


def outcome(texts):
    """Return the text, and the error at its end."""
    found = io.BytesIO()
    try:
        for text in texts:
            assert text
            found.write(text)
    except BrokenStreamError as error:
        return found.getvalue(), str(error)
    return found.getvalue(), ""


def harmed(data, kind, place):
    match kind:
        case "cut off":
            return data[: 1 + place % len(data)]
        case "one byte changed":
            at = place % len(data)
            return data[:at] + bytes([data[at] ^ (1 + place % 255)]) + data[at + 1 :]
        case "garbage":
            return data + b"garbage"
        case "zeros":
            return data + b"\0" * (1 + place % 600)
        case "a cut member":
            return data + gzip.compress(TEXT)[: 1 + place % 500]
    return data


sizes = st.sampled_from([1, 37, 1000, 1 << 16])


@given(members, harm, st.integers(0, 1 << 20), sizes, sizes)
def test_both_decoders_give_the_same(parts, kind, place, n_raw, n_text):
    data = b"".join(gzip.compress(TEXT[:size], level, mtime=0) for size, level in parts)
    data = harmed(data[: 1 << 13] if n_raw * n_text == 1 else data, kind, place)
    n_text = max(n_text, len(data) // 500)

    def again():
        return chunks(data, n_raw)

    expected, error = outcome(decoded(again(), "gzip"))
    found, found_error = outcome(decoded_gzip(again(), n_text, again=again))
    assert found_error == error
    assert found == expected if not error else found.startswith(expected)  # before damage, never less


def test_texts_have_the_requested_size():
    data = gzip.compress(TEXT[:7000]) + gzip.compress(TEXT[7000:])
    sizes = [len(text) for text in decoded_gzip(chunks(data, 512), 4096, again=list)]
    assert set(sizes[:-1]) == {4096}
    assert sum(sizes) == len(TEXT)


def test_a_sound_file_is_decoded_once():
    def again():
        raise AssertionError

    assert b"".join(decoded_gzip(chunks(gzip.compress(TEXT), 512), 4096, again=again)) == TEXT


def test_what_fails_while_reading_is_raised_as_it_is():
    def failing():
        yield gzip.compress(TEXT)[:100]
        raise RuntimeError("the network drive")

    with pytest.raises(RuntimeError, match="the network drive"):
        list(decoded_gzip(failing(), 4096, again=failing))

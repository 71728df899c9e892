"""Simulation: reproducible in any blocks, with the requested statistics and correct positions."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.errors import DataError, UsageError
from gpuasm.primitives.randomness import random_uint64, random_units, stream_key
from gpuasm.sequence.encoding import decode, encode, reverse_complement
from gpuasm.sequence.error_profile import hiseq_profile
from gpuasm.sequence.genomes import Molecule, Repeats, simulate_molecule
from gpuasm.sequence.simulation import ReadOptions, ReadSimulation, log_normal_abundances, read_texts
from gpuasm.threads import set_threads


@pytest.fixture
def molecule():
    return simulate_molecule("genome", 20_000, circular=True, seed=5)


@pytest.fixture
def threads():
    yield set_threads
    set_threads(None)


def joined(simulation, pairs_per_block):
    blocks = list(simulation.blocks(pairs_per_block=pairs_per_block))
    return [b"".join(block.mates[mate].tobytes() for block in blocks) for mate in range(len(blocks[0].mates))]


def fragment_bases(molecule, start, length):
    """Return the bases of a fragment on the forward strand, around the end of a circle."""
    return np.take(molecule.codes, np.arange(start, start + length), mode="wrap")


def test_splitmix64_known_values():
    # The reference generator seeded with 1234567 gives these first.
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert random_uint64(np.uint64(1234567), 0, 4).tolist() == expected


def test_streams_differ_by_seed_and_name():
    keys = {int(stream_key(seed, name)) for seed in range(3) for name in ("a", "b")}
    assert len(keys) == 6


def test_units_are_uniform():
    unit = random_units(stream_key(1, "units"), 0, 100_000)
    assert unit.min() >= 0
    assert unit.max() < 1
    np.testing.assert_allclose(np.histogram(unit, 10, (0, 1))[0], 10_000, rtol=0.05)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("pairs_per_block", [1, 7, 64, 1 << 14])
def test_same_bytes_for_any_block_size_and_threads(molecule, threads, n_threads, pairs_per_block):
    simulation = ReadSimulation([[molecule]], ReadOptions(3, n_rate=0.01, seed=9))
    threads(1)
    expected = joined(simulation, 1 << 14)
    threads(n_threads)
    assert joined(simulation, pairs_per_block) == expected


def test_other_seed_other_reads(molecule):
    first, second = (read_texts(ReadSimulation([[molecule]], ReadOptions(1, seed=seed))) for seed in (1, 2))
    assert len(first) == len(second)
    assert not set(first) & set(second)


@pytest.mark.parametrize("circular", [True, False])
def test_reads_without_errors_match_their_true_positions(circular):
    molecule = simulate_molecule("g", 3000, circular=circular, seed=2)
    options = ReadOptions(20, length=100, insert=250, insert_sd=40, error_rate=0, seed=3)
    simulation = ReadSimulation([[molecule]], options)
    texts, n_wrapped = read_texts(simulation), 0
    block = simulation.block(0, simulation.n_pairs)
    for pair in range(simulation.n_pairs):
        start, insert = block.start[pair], block.insert[pair]
        fragment = fragment_bases(molecule, start, insert)
        n_wrapped += start + insert > 3000
        if block.reverse[pair]:
            fragment = reverse_complement(fragment)
        assert texts[2 * pair] == decode(fragment[:100])
        assert texts[2 * pair + 1] == decode(reverse_complement(fragment)[:100])
    assert (n_wrapped > 0) == circular


def test_records_are_fastq_with_names_and_qualities_that_agree(molecule):
    simulation = ReadSimulation([[molecule]], ReadOptions(5, seed=1))
    lines = [mate.tobytes().decode().splitlines() for mate in simulation.block(0, 12).mates]
    for mate, text in enumerate(lines):
        assert text[0::4] == [f"@genome_{number}/{mate + 1}" for number in range(1, 13)]
        assert set(text[2::4]) == {"+"}
        assert {len(line) for line in text[1::4] + text[3::4]} == {150}
    profile = simulation.profile
    predicted = 10 ** (-(profile.quality.astype(float) - 33) / 10)
    rate = profile.threshold / 2.0**32
    assert np.all(np.abs(10 * np.log10(predicted / rate))[profile.quality < 41 + 33] <= 0.51)


@pytest.mark.parametrize("error_rate", [None, 0.01, 0.1])
def test_error_rate_and_qualities_match_the_request(molecule, error_rate):
    simulation = ReadSimulation([[molecule]], ReadOptions(100, error_rate=error_rate, seed=4))
    block = simulation.block(0, simulation.n_pairs)
    wrong = np.zeros((2, 150))
    expected = np.zeros((2, 150))
    for mate, text in enumerate(block.mates):
        lines = text.tobytes().split(b"\n")
        read = np.frombuffer(b"".join(lines[1::4]), np.uint8).reshape(-1, 150)
        quality = np.frombuffer(b"".join(lines[3::4]), np.uint8).reshape(-1, 150)
        expected[mate] = (10 ** (-(quality.astype(float) - 33) / 10)).mean(axis=0)
        first = np.where(block.reverse != (mate == 1), block.start + block.insert - 1, block.start)
        step = np.where(block.reverse != (mate == 1), -1, 1)
        true = np.take(molecule.codes, first[:, None] + step[:, None] * np.arange(150), mode="wrap")
        true = np.where(step[:, None] < 0, 3 - true, true)
        wrong[mate] = (encode(read.tobytes()).reshape(-1, 150) != true).mean(axis=0)
    requested = 0.0025 if error_rate is None else error_rate
    assert wrong.mean() == pytest.approx(requested, rel=0.05)
    assert expected.mean() == pytest.approx(wrong.mean(), rel=0.1)
    assert wrong[:, 130:].mean() > 2 * wrong[:, 20:60].mean()
    assert wrong[1].mean() > wrong[0].mean()


def test_profile_keeps_its_mean_however_high():
    for rate in (0.0, 0.001, 0.05, 0.25):
        assert hiseq_profile(150, error_rate=rate).threshold.mean() / 2**32 == pytest.approx(rate, rel=1e-3)


def test_n_rate(molecule):
    text = "".join(read_texts(ReadSimulation([[molecule]], ReadOptions(50, n_rate=0.02, seed=1))))
    assert text.count("N") / len(text) == pytest.approx(0.02, rel=0.05)


def test_n_of_the_genome_stays_n():
    codes = np.full(400, 4, dtype=np.uint8)
    simulation = ReadSimulation([[Molecule("n", codes, circular=True)]], ReadOptions(5, error_rate=0.1))
    assert set("".join(read_texts(simulation))) == {"N"}
    assert set(simulation.block(0, 1).mates[0].tobytes().split(b"\n")[3]) == {ord("#")}


def test_insert_sizes_have_the_requested_mean_and_deviation(molecule):
    block = ReadSimulation([[molecule]], ReadOptions(300, insert=400, insert_sd=30, seed=8)).block(0, 20_000)
    assert block.insert.mean() == pytest.approx(400, abs=1)
    assert block.insert.std() == pytest.approx(30, abs=1)
    assert block.reverse.mean() == pytest.approx(0.5, abs=0.02)


def test_depth_follows_fold_copies_and_abundance():
    chromosome = simulate_molecule("a", 10_000, seed=1, circular=True)
    plasmid = simulate_molecule("p", 2_000, seed=1, circular=True, copies=5)
    other = simulate_molecule("b", 10_000, seed=2, circular=True)
    simulation = ReadSimulation([[chromosome, plasmid], [other]], ReadOptions(50, seed=2), [3.0, 1.0])
    np.testing.assert_allclose(simulation.depths, [75, 375, 25])
    molecule = simulation.block(0, simulation.n_pairs).molecule
    depth = np.bincount(molecule) * 300 / np.array([10_000, 2_000, 10_000])
    np.testing.assert_allclose(depth, [75, 375, 25], rtol=0.1)


def test_single_reads_reach_the_same_depth(molecule):
    simulation = ReadSimulation([[molecule]], ReadOptions(30, single=True))
    assert simulation.n_pairs == 30 * 20_000 // 150
    assert len(read_texts(simulation)) == simulation.n_pairs


def test_log_normal_abundances():
    assert log_normal_abundances(3, 0.0, 1) == [1.0, 1.0, 1.0]
    logs = np.log(log_normal_abundances(5000, 1.5, 1))
    assert logs.std() == pytest.approx(1.5, rel=0.05)
    assert logs.mean() == pytest.approx(0, abs=0.1)


@pytest.mark.parametrize("gc", [0.0, 0.3, 1.0])
def test_gc_share(gc):
    codes = simulate_molecule("g", 50_000, gc=gc, seed=3).codes
    assert np.isin(codes, [1, 2]).mean() == pytest.approx(gc, abs=0.01)


def test_repeats_are_there_on_either_strand_and_exact():
    repeats = Repeats(families=2, length=300, copies=4)
    text = decode(simulate_molecule("g", 10_000, repeats=repeats, seed=6).codes)
    other = decode(reverse_complement(encode(text)))
    occurrences = [text.count(text[i : i + 100]) + other.count(text[i : i + 100]) for i in range(9_900)]
    assert max(occurrences) == 4
    assert occurrences.count(4) == 8 * (300 - 100 + 1)


def test_diverged_repeats_differ():
    plain, diverged = (
        simulate_molecule("g", 4000, repeats=Repeats(1, 2000, 2, rate), seed=6).codes for rate in (0.0, 0.05)
    )
    assert (plain != diverged).mean() == pytest.approx(0.05, abs=0.01)


@pytest.mark.parametrize(
    "options",
    [
        {"fold": 0},
        {"length": 0},
        {"insert": 100},
        {"insert_sd": -1},
        {"error_rate": 0.5},
        {"n_rate": 0.9},
    ],
)
def test_options_out_of_range_are_refused(molecule, options):
    with pytest.raises(UsageError):
        ReadSimulation([[molecule]], ReadOptions(**{"fold": 10, **options}))


def test_genomes_that_cannot_be_read_are_refused(molecule):
    with pytest.raises(DataError, match="at least one"):
        ReadSimulation([[]], ReadOptions(1))
    with pytest.raises(DataError, match="at least 150 bases"):
        ReadSimulation([[Molecule("short", np.zeros(10, np.uint8))]], ReadOptions(1))
    with pytest.raises(DataError, match="twice"):
        ReadSimulation([[molecule], [molecule]], ReadOptions(1))
    with pytest.raises(UsageError, match="abundances"):
        ReadSimulation([[molecule]], ReadOptions(1), [1.0, 2.0])


def test_repeats_that_do_not_fit_are_refused():
    with pytest.raises(UsageError, match="longer genome"):
        simulate_molecule("g", 1000, repeats=Repeats(1, 600, 2))
    with pytest.raises(UsageError, match="length"):
        simulate_molecule("g", 0)

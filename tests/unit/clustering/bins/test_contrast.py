"""Axes that distinguish genomes, and the largest variance of noise."""

from __future__ import annotations

import numpy as np
import pytest

from gpuasm.clustering.bins.contrast import MIN_AXES, find_contrast, largest_of_noise

WINDOW = 3000


def counts_of(rng, shares, n):
    return np.array([rng.multinomial(WINDOW, shares) for _ in range(n)])


@pytest.fixture
def shares(rng):
    """Return a function that makes the shares of a genome."""
    return lambda: rng.dirichlet(np.full(136, 60.0))


def test_one_source_has_no_discriminating_axis(rng, shares):
    counts = counts_of(rng, shares(), 600)
    contrast = find_contrast(counts, np.repeat(np.arange(60), 10), WINDOW)
    assert contrast.n_discriminating == 0
    assert contrast.axes.shape == (136, MIN_AXES)


@pytest.mark.parametrize("n_sources", [2, 3, 5])
def test_sources_are_distinguished_by_one_axis_less(rng, shares, n_sources):
    counts = np.concatenate([counts_of(rng, shares(), 200) for _ in range(n_sources)])
    contrast = find_contrast(counts, np.repeat(np.arange(20 * n_sources), 10), WINDOW)
    assert contrast.n_discriminating == n_sources - 1
    place = contrast.place(counts).reshape(n_sources, 200, -1)
    centre = place.mean(axis=1)
    apart = np.linalg.norm(centre[:, None] - centre, axis=2)[~np.eye(n_sources, dtype=bool)]
    assert apart.min() > 6
    # Noise is 1 if contigs of many windows determine it.
    assert 0.5 < place.std(axis=1).mean() < 1.1


def test_an_uneven_genome_is_one_genome(rng, shares):
    # Two kinds of stretches that alternate within each contig are noise, however different they are.
    kinds = np.array([shares(), shares()])
    counts = np.array([rng.multinomial(WINDOW, kinds[i % 2]) for i in range(600)])
    contig = np.repeat(np.arange(60), 10)
    assert find_contrast(counts, contig, WINDOW).n_discriminating == 0
    of_contigs = np.array([rng.multinomial(WINDOW, kinds[c % 2]) for c in contig])
    assert find_contrast(of_contigs, contig, WINDOW).n_discriminating == 1


def test_coordinates_do_not_depend_on_the_window_length(rng, shares):
    counts = np.concatenate([counts_of(rng, shares(), 100) for _ in range(2)])
    contrast = find_contrast(counts, np.repeat(np.arange(20), 10), WINDOW)
    assert np.allclose(contrast.place(counts), contrast.place(7 * counts))


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_windows_and_absent_tetranucleotides_are_handled(rng, shares, n):
    counts = counts_of(rng, shares(), n)
    counts[:, :70] = 0
    contrast = find_contrast(counts, np.arange(n), WINDOW)
    assert contrast.n_discriminating == 0
    assert np.isfinite(contrast.place(counts)).all()


@pytest.mark.parametrize(("n_columns", "n", "freedom"), [(40, 400, 300), (40, 80, 120), (100, 1000, 2000)])
def test_the_largest_of_noise_is_what_random_numbers_have(rng, n_columns, n, freedom):
    largest = []
    for _ in range(10):
        rows, noise = rng.normal(size=(n, n_columns)), rng.normal(size=(freedom, n_columns))
        root = np.linalg.cholesky(np.linalg.inv(noise.T @ noise / freedom))
        largest.append(np.linalg.eigvalsh(root.T @ rows.T @ rows @ root / n)[-1])
    assert np.mean(largest) == pytest.approx(largest_of_noise(n_columns, n, freedom), rel=0.1)

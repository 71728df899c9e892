"""Fixtures that several tests share."""

from __future__ import annotations

import gc
import logging
import signal
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import hypothesis
import numpy as np
import pytest

from gpuasm import arrays, precompilation
from gpuasm.threads import set_threads

# The first example of a test may compile; a test that fails does so in every run.
hypothesis.settings.register_profile("gpuasm", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=1000)
hypothesis.settings.load_profile("gpuasm")


def pytest_configure(config: pytest.Config) -> None:
    """Let Ctrl-C reach the programs that tests start, as a shell makes jobs in its background ignore it.

    And compile the loops of assemblies before there are workers: in a fresh clone each worker would compile all.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if n_workers := getattr(config.option, "numprocesses", None):
        precompilation.compile_all(threads=n_workers, memory=n_workers * precompilation.BYTES_PER_HELPER)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each worker neighbours, as tests of one module use the same fixtures and compile the same loops."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest tests first, those of the workflow and of declared loops, so that workers end together."""
    items.sort(key=lambda item: not ({"workflow", "test_precompilation.py"} & set(item.path.parts)))


def pytest_collection_finish() -> None:
    """Leave modules and thousands of tests out of each collection of garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def xp(request: pytest.FixtureRequest) -> ModuleType:
    """numpy, and with ``-m gpu`` cupy: a test that takes it runs on both and compares on the host."""
    return arrays.namespace_of(request.param)


@pytest.fixture(params=[1, 2], ids=["1 thread", "2 threads"])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    """Run a test with one and with two CPU threads."""
    set_threads(request.param)
    yield request.param
    set_threads(None)


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers that are the same in every run."""
    return np.random.default_rng(2)


@pytest.fixture(autouse=True)
def _fresh_logger() -> None:
    """Begin each test with messages that reach the test, whatever a run in the same process has left."""
    logger = logging.getLogger("gpuasm")
    logger.handlers.clear()
    logger.propagate = True
    logger.setLevel(logging.NOTSET)


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep kernels compiled by tests out of the user's cache; loops stay next to the source, as they take minutes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def emulated_functions(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A substitute for `gpuasm.arrays.cuda_functions` that runs CUDA kernels on the CPU, each compiled once."""
    from tests.gpu import emulator

    if emulator.COMPILER is None:
        pytest.skip("needs g++ to run kernels without a device")
    return emulator.emulated(tmp_path_factory.mktemp("kernels"))


@pytest.fixture
def pages_without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave figures out of pages: drawing takes most of the time of a small assembly, and other tests look at them."""
    monkeypatch.setattr("gpuasm.report.page.figures_of", lambda _: [])


@pytest.fixture
def run_cli(capfd: pytest.CaptureFixture[str]) -> Any:
    """Return a function that runs the command line in this process: (exit code, stdout, stderr)."""
    from gpuasm.cli import main

    def run(*args: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as exit_info:
            main([str(arg) for arg in args])
        captured = capfd.readouterr()
        return int(exit_info.value.code or 0), captured.out, captured.err

    return run

"""Run the command line by ``python -m gpuasm``."""

from gpuasm.cli import run

if __name__ == "__main__":
    run()

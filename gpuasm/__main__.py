"""Run the command line by ``python -m gpuasm``."""

from gpuasm.cli import main

if __name__ == "__main__":
    main()

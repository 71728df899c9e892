"""A Slurm of its own on this machine: a controller and several nodes, each a namespace of processes that can be killed.

It needs root, and the Debian packages ``slurm-wlm`` and ``munge``. Nothing outside its folder is changed.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sinfo", "squeue", "unshare")
_SECONDS_TO_START = 60.0
_CONFIGURATION = """\
ClusterName=gpuasm
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={port}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool_%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd_%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd_%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
SlurmdTimeout=20
MessageTimeout=60
MinJobAge=86400
ReturnToService=2
MpiDefault=none
AccountingStorageType=accounting_storage/none
{nodes}
PartitionName=normal Nodes=ALL Default=YES MaxTime=UNLIMITED LLN=YES State=UP
"""


def configuration(folder: Path, *, n_nodes: int, cpus: int, memory_mb: int, port: int = 26817) -> str:
    """Return slurm.conf of so many nodes, all on this host; jobs go to the node with most idle CPUs."""
    nodes = [
        f"NodeName={name_of_node(number)} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port + number} "
        f"CPUs={cpus} RealMemory={memory_mb}"
        for number in range(1, n_nodes + 1)
    ]
    return _CONFIGURATION.format(folder=folder, port=port, nodes="\n".join(nodes))


def name_of_node(number: int) -> str:
    return f"node{number}"


def missing_programs() -> list[str]:
    """Return what this machine lacks for a cluster."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    return missing + ([] if os.geteuid() == 0 else ["root"])


class SlurmCluster:
    """A running cluster.

    Attributes
    ----------
    environment : dict
        Environment of commands that use it.
    """

    def __init__(self, folder: Path) -> None:
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "etc" / "slurm.conf")}
        self._folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *command: str | Path) -> None:
        """Start a daemon in the foreground, its output into a file of its name."""
        with (self._folder / f"{name}.out").open("ab") as out:
            self._processes[name] = subprocess.Popen(
                list(map(str, command)), stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=self.environment
            )

    def start_node(self, name: str) -> None:
        """Start a node: the first process of a namespace, with which all others of it end.

        Jobs see the configuration in its usual place, as Snakemake takes the environment of Slurm from them.
        """
        namespace = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        script = 'mount --bind "$1" /etc/slurm && exec slurmd -D -N "$2"'
        self.start(name, *namespace, "sh", "-c", script, "sh", self._folder / "etc", name)

    def kill_node(self, name: str) -> None:
        """Let a node fail: its daemon and all processes of its jobs are killed at once."""
        process = self._processes.pop(name)
        process.kill()
        process.wait()

    def output_of(self, *command: str) -> str:
        """Return what a command of Slurm prints; nothing if it fails."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else ""

    def running(self, node: str) -> list[str]:
        """Return the comments of the jobs that run on a node: Snakemake puts the names of rules there."""
        states = ("--states=RUNNING", f"--nodelist={node}", "--format=%k")
        return self.output_of("squeue", "--noheader", *states).split("\n")[:-1]

    def stop(self) -> None:
        for name in reversed(self._processes):
            process = self._processes[name]
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()


@contextmanager
def slurm_cluster(folder: Path, *, n_nodes: int, cpus: int, memory_mb: int) -> Iterator[SlurmCluster]:
    """Start a cluster in a folder, and stop it at the end.

    Raises
    ------
    TimeoutError
        If a node is not ready after a minute.
    """
    for name in ("state", "etc"):
        (folder / name).mkdir(parents=True)
    names = [name_of_node(number) for number in range(1, n_nodes + 1)]
    for name in names:
        (folder / f"spool_{name}").mkdir()
    text = configuration(folder, n_nodes=n_nodes, cpus=cpus, memory_mb=memory_mb)
    (folder / "etc" / "slurm.conf").write_text(text)
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    cluster = SlurmCluster(folder)
    try:
        files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        places = [f"--{option}={folder / f'munge.{suffix}'}" for option, suffix in files.items()]
        cluster.start("munged", "munged", "--foreground", "--force", *places)
        _wait((folder / "munge.socket").exists, what="munged")
        cluster.start("slurmctld", "slurmctld", "-D")
        for name in names:
            cluster.start_node(name)
        states = ["sinfo", "--noheader", "--Node", "--format=%T"]
        _wait(lambda: cluster.output_of(*states).split() == ["idle"] * n_nodes, what="a node")
        yield cluster
    finally:
        cluster.stop()


def _wait(is_ready: Callable[[], bool], *, what: str) -> None:
    end = time.monotonic() + _SECONDS_TO_START
    while not is_ready():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} is not ready; see the files *.out and *.log")
        time.sleep(0.5)

"""An engine: processes on the nodes of a Ray cluster, which all see the folder of the runs as this machine does.

A Ray task starts the same process that the local engine starts, on any node that has room. If a node or a worker dies,
so does the process; the run is begun again elsewhere from what was saved last.
"""

import asyncio
import logging
import socket
from typing import Any

from rnar.sweep.engine import Allocation, Resources
from rnar.sweep.plan import PlannedRun
from rnar.sweep.process import GRACE, Outcome, train_on_node

ANSWER = 5.0  # seconds to wait for a cluster to answer
NONE_THERE = "; `ray start --head` starts one and tells its address"


class Ray:
    """A cluster that this process has joined."""

    def __init__(self, address: str | None):
        try:
            import ray
        except ImportError:
            raise ValueError("Ray is not installed here; pip install 'rnar[ray]', or use --engine local") from None
        check_address(address)
        try:
            ray.init(address=address or "auto", log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError, SystemExit) as error:
            where = f"at {address} ({_first_sentence(error)})" if address else "on this machine"
            raise ValueError(f"no Ray cluster {where}{NONE_THERE}") from None
        self.ray: Any = ray

    def resources(self) -> Resources:
        nodes = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]
        cores = [int(node.get("CPU", 0)) for node in nodes]
        return Resources(max(1, sum(cores)), sum(node.get("GPU", 0) for node in nodes), None, max(1, *cores))

    async def train(self, run: PlannedRun, allocation: Allocation, slot: int) -> Outcome:
        run.settings.path.parent.mkdir(parents=True, exist_ok=True)  # a node that does not see it says so
        options = {"num_cpus": allocation.threads, "num_gpus": allocation.gpus, "max_retries": 0}
        if allocation.memory:
            options["memory"] = allocation.memory * 1e9
        answer = self.ray.remote(train_on_node).options(**options).remote(allocation.command(run))
        try:
            outcome = await answer
        except self.ray.exceptions.RayError as error:
            return Outcome("died", _first_sentence(error))
        except asyncio.CancelledError:
            self.ray.cancel(answer)
            await asyncio.wait_for(asyncio.gather(answer, return_exceptions=True), GRACE)
            raise
        if outcome.kind == "done" and run.result is None:
            return Outcome("failed", f"it ended well, but not in {run.settings.path} here; all nodes must share it")
        return outcome

    def close(self) -> None:
        self.ray.shutdown()


def check_address(address: str | None) -> None:
    """Raise if nothing listens at that address. Ray itself would take most of a minute to find out."""
    if address is None or address == "auto":
        return  # Ray knows at once whether there is a cluster on this machine
    if address == "local":
        raise ValueError("--address local: Ray would start a cluster of its own; --engine local does without")
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host, int(port)), ANSWER).close()
    except (OSError, ValueError, OverflowError):
        raise ValueError(f"no Ray cluster at {address}{NONE_THERE}") from None


def _first_sentence(error: BaseException) -> str:
    """The first sentence of an error of Ray's, which are long."""
    return f"{type(error).__name__}: {error}".split("\n")[0].split(". ")[0].rstrip(".")

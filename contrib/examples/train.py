#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a tiny model on all ranks of a job with PyTorch's DDP.

It reads only what every launcher sets: RANK, LOCAL_RANK, WORLD_SIZE,
MASTER_ADDR and MASTER_PORT.  So it runs unchanged with one task per rank

    srun --nccl-autoconf -N2 --ntasks-per-node=2 python3 train.py

and below a launcher that is started once per node

    srun --nccl-autoconf=layout=node,nproc=2 -N2 --ntasks-per-node=1 torchrun train.py
"""

import argparse
import datetime
import os
import socket
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def say(text):
    # In one write, so that lines of several ranks do not mix.
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def connect(timeout):
    """Joins the process group, and names the address before waiting for it."""
    host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0]
    name = host if host == address else f"{host} ({address})"
    say(f"rank {os.environ['RANK']} on {socket.gethostname()} connects to {name} port {port}")

    dist.init_process_group(
        "nccl" if torch.cuda.is_available() else "gloo",
        timeout=datetime.timedelta(seconds=timeout),
    )
    say(f"rank {dist.get_rank()} of {dist.get_world_size()} on {socket.gethostname()} via {host}:{port}")


def pick_device():
    if not torch.cuda.is_available():
        return torch.device("cpu")
    # Where Slurm gives each task a GPU of its own, that one is number 0.
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
    torch.cuda.set_device(device)
    return device


def make_batch(rank, device):
    """Samples of a known function: the same at every run, different on each rank."""
    samples = torch.Generator().manual_seed(rank)
    x = torch.rand(256, 2, generator=samples)
    return x.to(device), torch.sin(3 * x.sum(dim=1, keepdim=True)).to(device)


def mean_over_ranks(loss):
    loss = loss.detach().clone()
    dist.all_reduce(loss)
    return loss.item() / dist.get_world_size()


def train(steps, device):
    """Returns the loss, averaged over all ranks, at the first and at the last step."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
    model = DistributedDataParallel(model.to(device))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    x, y = make_batch(dist.get_rank(), device)

    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(mean_over_ranks(loss))
    return losses[0], losses[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--timeout", type=float, default=1800, help="seconds to wait for other ranks")
    options = parser.parse_args()

    connect(options.timeout)
    first, last = train(options.steps, pick_device())
    if dist.get_rank() == 0:
        say(f"loss {first:.4f} at step 1, {last:.4f} at step {options.steps}")
    dist.destroy_process_group()
    return 0 if last < first else 1


if __name__ == "__main__":
    sys.exit(main())

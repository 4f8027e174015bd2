# SPDX-License-Identifier: Apache-2.0
"""Trains the same steps with PyTorch: in one process, or with DistributedDataParallel over gloo.

usage: ddp.py NET ROWS STEPS, with the environment variables RANK, WORLD_SIZE, MASTER_ADDR and
       MASTER_PORT
"""
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

ALPHABET, WIDTH, LENGTH = 96, 256, 64


class recurrence(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(ALPHABET, WIDTH)
        self.rnn = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.logits = nn.Linear(WIDTH, ALPHABET)

    def forward(self, x):
        return self.logits(self.rnn(self.embedding(x))[0]).flatten(0, 1)


class block(nn.Module):
    def __init__(self, before, channels, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(before, channels, 3, stride, 1, bias=False), nn.BatchNorm2d(channels),
            nn.ReLU(), nn.Conv2d(channels, channels, 3, 1, 1, bias=False),
            nn.BatchNorm2d(channels))
        self.short = nn.Identity() if before == channels else nn.Sequential(
            nn.Conv2d(before, channels, 1, stride, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        return torch.relu(self.body(x) + self.short(x))


def make(name):
    if name == "lenet":
        return nn.Sequential(nn.Conv2d(1, 20, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5),
                             nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(800, 500),
                             nn.ReLU(), nn.Linear(500, 10)), (1, 28, 28)
    if name == "resnet":
        return nn.Sequential(nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
                             block(16, 16, 1), block(16, 16, 1), block(16, 32, 2),
                             block(32, 32, 1), block(32, 64, 2), block(64, 64, 1),
                             nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)), (3, 32, 32)
    if name == "mlp":
        return nn.Sequential(nn.Linear(784, 2048), nn.ReLU(), nn.Linear(2048, 4096), nn.ReLU(),
                             nn.Linear(4096, 2400), nn.ReLU(), nn.Linear(2400, 10)), (784, )
    return recurrence(), None


def main():
    name, rows, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    torch.set_num_threads(int(os.environ.get("THREADS", 1)))
    torch.manual_seed(1)
    net, shape = make(name)
    if world > 1:
        dist.init_process_group("gloo", world_size=world, rank=rank)
        net = nn.parallel.DistributedDataParallel(net, gradient_as_bucket_view=True,
                                                  static_graph=True)
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    mine = rows // world
    if shape is None:
        x = torch.randint(ALPHABET, (2, mine, LENGTH))
        y = (x * 7 + 1).remainder(ALPHABET).flatten(1)
    else:
        x, y = torch.rand(2, mine, *shape) * 2 - 1, torch.randint(10, (2, mine))
    took = []
    for i in range(steps):
        begin = time.perf_counter()
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x[i % 2]), y[i % 2]).backward()
        optimizer.step()
        took.append(time.perf_counter() - begin)
    if rank == 0:
        print(f"step {statistics.median(took[len(took) // 4:]) * 1e6:.1f}", flush=True)
    if world > 1:
        dist.barrier()
        dist.destroy_process_group()


if __name__ == "__main__":
    main()

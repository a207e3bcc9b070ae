#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the environment as each trainer's start-up code does, and joins the rendezvous that it finds there.

Our own code, written from the functions that are named in it. Runs under the name of the launcher that it stands for (accelerate, deepspeed,
llamafactory-cli, swift, composer, ray) or as the training script, unless SCRIPT names another one for the workers. TRAINER says whose script it is, LAYOUT in which layout the step runs; with DRY set a launcher
starts its workers itself where it would start torchrun. A worker prints "TRAINER LAYOUT: rank R of N" when all N have met, and the number of each was there once.
"""
import argparse
import os
import random
import re
import socket
import subprocess
import sys
import time

ENV = os.environ
RENDEZVOUS = ('RANK', 'LOCAL_RANK', 'WORLD_SIZE', 'LOCAL_WORLD_SIZE', 'MASTER_ADDR', 'MASTER_PORT', 'NNODES', 'NODE_RANK', 'NPROC_PER_NODE',
              'FORCE_TORCHRUN', 'PET_NNODES', 'JAX_COORDINATOR_ADDRESS')
SECONDS = 30
SCRIPT = ENV.get('SCRIPT', __file__).split()


def say(text):
    os.write(1, f'{text}\n'.encode())  # whole, beside what others write


# What a worker reads: (rank, size, address, port)

def torch_env():
    """torch/distributed/rendezvous.py _env_rendezvous_handler"""
    port = int(ENV['MASTER_PORT'])
    if ENV.get('TORCHELASTIC_USE_AGENT_STORE') == 'True':  # the agent listens there; of the three ports the next is free too
        port += 1
    return int(ENV['RANK']), int(ENV['WORLD_SIZE']), ENV['MASTER_ADDR'], port


def lightning_slurm():
    """lightning/fabric/plugins/environments/slurm.py SLURMEnvironment; connector.py _choose_and_init_cluster_environment"""
    assert 'TORCHELASTIC_RUN_ID' not in ENV and ENV['SLURM_JOB_NAME'] not in ('bash', 'interactive')
    assert 'SLURM_NTASKS_PER_NODE' in ENV or int(ENV['SLURM_NTASKS']) == 1
    return int(ENV['SLURM_PROCID']), int(ENV['SLURM_NTASKS']), ENV['MASTER_ADDR'], int(ENV['MASTER_PORT'])


def accelerate_script():
    """accelerate/state.py PartialState.__init__"""
    assert int(ENV.get('LOCAL_RANK', -1)) != -1
    return torch_env()


def deepspeed_script():
    """deepspeed/comm/comm.py init_distributed: all five, or mpi4py"""
    assert all(name in ENV for name in ('RANK', 'WORLD_SIZE', 'MASTER_ADDR', 'MASTER_PORT', 'LOCAL_RANK'))
    return torch_env()


def llamafactory_task():
    """LLaMA-Factory src/llamafactory/launcher.py launch: no torchrun, so the process is a worker"""
    assert not is_true(ENV.get('FORCE_TORCHRUN', '0')) and 'USE_MCA' not in ENV
    return torch_env()


def swift_task():
    """ms-swift swift/cli/main.py use_torchrun"""
    assert 'NPROC_PER_NODE' not in ENV and 'NNODES' not in ENV
    return torch_env()


def jax_task():
    """jax/_src/distributed.py State.initialize; clusters/slurm_cluster.py"""
    address, port = ENV['JAX_COORDINATOR_ADDRESS'].rsplit(':', 1)
    assert 'OMPI_MCA_orte_hnp_uri' not in ENV and 'JAX_LOCAL_DEVICE_IDS' not in ENV
    return int(ENV['SLURM_PROCID']), int(ENV['SLURM_NTASKS']), address, int(port)


def jax_node():
    """the same: without the list a process takes only the device SLURM_LOCALID"""
    assert ENV['JAX_LOCAL_DEVICE_IDS'] == '0,1'
    address, port = ENV['JAX_COORDINATOR_ADDRESS'].rsplit(':', 1)
    return int(ENV['SLURM_PROCID']), int(ENV['SLURM_NTASKS']), address, int(port)


def ignite():
    """ignite/distributed/comp_models/native.py _setup_env_in_slurm: all five, and as Slurm says, or none"""
    assert (ENV['RANK'], ENV['LOCAL_RANK'], ENV['WORLD_SIZE']) == (ENV['SLURM_PROCID'], ENV['SLURM_LOCALID'], ENV['SLURM_NTASKS'])
    return torch_env()


def horovod():
    """horovod/common/utils/env_parser.cc ParseGlooIface; the ranks are MPI's"""
    assert socket.if_nametoindex(ENV['HOROVOD_GLOO_IFACE']) and ENV['HOROVOD_GLOO_IFACE'] == ENV['GLOO_SOCKET_IFNAME']
    return int(ENV['SLURM_PROCID']), int(ENV['SLURM_NTASKS']), None, None


def nothing():
    """What makes its own rendezvous finds none of ours, but the network."""
    assert not [name for name in RENDEZVOUS if name in ENV] and ENV['NCCL_SOCKET_IFNAME']
    return int(ENV['SLURM_PROCID']), int(ENV['SLURM_NTASKS']), None, None


def submitit():
    """submitit/helpers.py TorchDistributedEnvironment.export, _set_from_slurm"""
    assert not [name for name in RENDEZVOUS[:6] if name in ENV]
    host = re.sub(r'\[(\d+).*', r'\1', ENV['SLURM_STEP_NODELIST'])
    port = random.Random(ENV['SLURM_JOB_ID']).randint(20000, 32000)
    return int(ENV['SLURM_PROCID']), int(ENV['SLURM_NTASKS']), host, port


# What a launcher reads, and what it starts

def is_true(value):
    return value.lower() in ('1', 'true', 'y')


def parse(argv, *options):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for option in options:
        parser.add_argument('--' + option)
    return parser.parse_known_args(argv)[0]


def torchrun(nnodes, node_rank, nproc, address, port):
    if 'DRY' in ENV:
        return spawn(int(node_rank) * int(nproc), int(nnodes) * int(nproc), int(nproc), address, port)
    return subprocess.call(['/usr/bin/torchrun', '--nnodes', nnodes, '--node_rank', node_rank, '--nproc_per_node', nproc, '--master_addr', address,
                            '--master_port', port, *SCRIPT])


def spawn(first, size, nproc, address, port):
    """Workers as torch/distributed/elastic/agent/server/local_elastic_agent.py _start_workers sets them up"""
    workers = []
    for i in range(nproc):
        env = {**ENV, 'RANK': str(first + i), 'LOCAL_RANK': str(i), 'WORLD_SIZE': str(size), 'LOCAL_WORLD_SIZE': str(nproc), 'MASTER_ADDR': address,
               'MASTER_PORT': port}
        workers.append(subprocess.Popen([sys.executable, *SCRIPT], env={**env, 'STARTED': '1'}))
    return max([worker.wait() for worker in workers])


def accelerate_launch(argv):
    """accelerate/utils/launch.py prepare_multi_gpu_env, into torch/distributed/run.py; commands/launch.py"""
    assert argv[0] == 'launch' and 'LOCAL_RANK' not in ENV
    args = parse(argv, 'num_machines', 'machine_rank', 'num_processes', 'main_process_ip', 'main_process_port')
    nproc = str(int(args.num_processes) // int(args.num_machines))
    return torchrun(args.num_machines, args.machine_rank, nproc, args.main_process_ip, args.main_process_port)


def deepspeed(argv):
    """deepspeed/launcher/runner.py main, launcher/launch.py main"""
    args = parse(argv, 'hostfile', 'node_rank', 'master_addr', 'master_port')
    assert not [name for name in RENDEZVOUS[:2] if name in ENV]
    hosts = dict(line.split(' slots=') for line in open(args.hostfile).read().splitlines())
    slots = [int(n) for n in hosts.values()]
    if '--no_ssh' not in argv:
        return deepspeed_pdsh(list(hosts), args)
    rank = int(args.node_rank)
    return spawn(sum(slots[:rank]), sum(slots), slots[rank], args.master_addr, args.master_port)


def deepspeed_pdsh(hosts, args):
    """deepspeed/launcher/runner.py main, launcher/multinode_runner.py PDSHRunner.get_cmd: what node 1 has under these names, and no more"""
    exports = {name: value for name, value in ENV.items() if name.startswith(('NCCL', 'PYTHON', 'MV2', 'UCX'))}
    if os.path.exists('.deepspeed_env'):
        exports.update(line.split('=', 1) for line in open('.deepspeed_env').read().splitlines())
    address = args.master_addr or subprocess.check_output(login(hosts[0], {}) + ['hostname', '-I'], text=True).split()[0]
    port = args.master_port or '29500'
    nodes = [subprocess.Popen(login(host, exports) + [sys.executable, sys.argv[0], '--no_ssh', '--hostfile', args.hostfile, '--node_rank', str(rank),
                                                      '--master_addr', address, '--master_port', port]) for rank, host in enumerate(hosts)]
    return max([node.wait() for node in nodes])


def login(host, env):
    """For ssh, which the lab does not have: a step of the job's on that node, with nothing of this environment but what is given"""
    own = {name: ENV[name] for name in ('PATH', 'HOME', 'TRAINER', 'LAYOUT', 'SCRIPT', 'OMP_NUM_THREADS') if name in ENV}
    return ['srun', '--overlap', '--nccl-autoconf=off', '--quiet', '-N1', '-n1', '-w', host, '--export=NONE', '/usr/bin/env', '-i',
            *(f'{name}={value}' for name, value in {**own, **env}.items())]


def llamafactory(argv):
    """LLaMA-Factory src/llamafactory/launcher.py launch; v0.9.0 src/llamafactory/cli.py main, where RANK is the node's"""
    assert argv[0] == 'train'
    if not is_true(ENV.get('FORCE_TORCHRUN', '0')):  # and one GPU
        return work() if ENV['LAYOUT'] == 'task' else met((0, 1))
    node_rank = ENV.get('RANK' if ENV['TRAINER'].endswith('-0.9.0') else 'NODE_RANK', '0')
    return torchrun(ENV.get('NNODES', '1'), node_rank, ENV.get('NPROC_PER_NODE', '1'), ENV.get('MASTER_ADDR', '127.0.0.1'),
                    ENV.get('MASTER_PORT', str(random.randint(20001, 29999))))


def swift(_argv):
    """ms-swift swift/cli/main.py use_torchrun, get_torchrun_args"""
    if 'NPROC_PER_NODE' not in ENV and 'NNODES' not in ENV:
        return work()
    return torchrun(ENV['NNODES'], ENV['NODE_RANK'], ENV['NPROC_PER_NODE'], ENV['MASTER_ADDR'], ENV['MASTER_PORT'])


def composer(_argv):
    """composer/cli/launcher.py _parse_args"""
    nproc, size, node = int(ENV['LOCAL_WORLD_SIZE']), int(ENV['WORLD_SIZE']), int(ENV['NODE_RANK'])
    first = int(ENV.get('BASE_RANK', node * nproc))
    assert size > nproc and first + nproc <= size and not [name for name in RENDEZVOUS[:2] if name in ENV]
    return spawn(first, size, nproc, ENV['MASTER_ADDR'], ENV['MASTER_PORT'])


def ray(argv):
    """ray/scripts/symmetric_run.py symmetric_run: the head is where the address is; the others join it"""
    args = parse(argv, 'address', 'min-nodes')
    address, port = args.address.split(':')
    probe = socket.socket()
    try:
        probe.bind((address, 0))
        rank = 0
    except OSError:
        rank = int(ENV['SLURM_PROCID'])
    return met(meet(rank, int(args.min_nodes), address, int(port)))


def lightning_spawn():
    """lightning/fabric/plugins/environments/lightning.py LightningEnvironment: node_rank, creates_processes_externally"""
    assert 'LOCAL_RANK' not in ENV
    node = int(ENV.get('NODE_RANK', ENV.get('GROUP_RANK', 0)))
    return spawn(2 * node, 4, 2, ENV['MASTER_ADDR'], ENV['MASTER_PORT'])


TASK = {
    'torch': torch_env, 'lightning': lightning_slurm, 'accelerate': accelerate_script, 'deepspeed': deepspeed_script, 'llamafactory': llamafactory_task,
    'llamafactory-0.9.0': llamafactory_task, 'swift': swift_task, 'megatron': torch_env, 'jax': jax_task, 'ignite': ignite, 'composer': torch_env,
    'horovod': horovod, 'submitit': submitit, 'mpirun': nothing, 'deepspeed-pdsh': nothing,
}
NODE = {'jax': jax_node, 'submitit': submitit, 'mpirun': nothing, 'deepspeed-pdsh': nothing}
LAUNCHERS = {'accelerate': accelerate_launch, 'deepspeed': deepspeed, 'llamafactory-cli': llamafactory, 'swift': swift, 'composer': composer, 'ray': ray}


def meet(rank, size, address, port):
    """Rank 0 listens where the others are told to go, and lets them go when all have come."""
    if not address:
        return rank, size
    if rank == 0:
        with socket.create_server(('', port), reuse_port=False) as server:
            server.settimeout(SECONDS)
            peers = {0: None}
            while len(peers) < size:
                peer = server.accept()[0]
                number = int(peer.makefile().readline())
                assert number not in peers and 0 < number < size, f'rank {number} twice'
                peers[number] = peer
        for peer in filter(None, peers.values()):
            peer.sendall(b'go\n')
        return rank, size
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            peer = socket.create_connection((address, port), timeout=SECONDS)
            peer.sendall(f'{rank}\n'.encode())
            assert peer.makefile().readline() == 'go\n'
            return rank, size
        except ConnectionError:
            assert time.monotonic() < deadline, f'nobody listens at {address} port {port}'
            time.sleep(0.05)


def meet_torch(rank, size):
    """The same by PyTorch's own env:// and a sum over all ranks."""
    import torch.distributed as dist
    import torch
    dist.init_process_group('gloo')
    total = torch.tensor([float(dist.get_rank())])
    dist.all_reduce(total)
    assert (dist.get_rank(), dist.get_world_size(), int(total)) == (rank, size, size * (size - 1) // 2)
    dist.destroy_process_group()
    return rank, size


def meet_mpi():
    """nccl-tests/src/common.cu run: MPI's ranks, which mpirun's daemons give; of ours only the network"""
    from mpi4py import MPI
    world = MPI.COMM_WORLD
    assert not [name for name in RENDEZVOUS if name in ENV] and ENV['NCCL_SOCKET_IFNAME']
    assert sorted(world.allgather(world.rank)) == list(range(world.size))
    return world.rank, world.size


def met(ranks):
    say(f"{ENV['TRAINER']} {ENV['LAYOUT']}: rank {ranks[0]} of {ranks[1]}")
    return 0


def is_started():
    """A worker that a launcher has started"""
    return 'TORCHELASTIC_RUN_ID' in ENV or 'STARTED' in ENV


def work():
    """A worker, or a script that starts none."""
    if 'OMPI_COMM_WORLD_RANK' in ENV:
        return met(meet_mpi())
    if is_started():
        found = torch_env()
    elif ENV['LAYOUT'] == 'node' and ENV['TRAINER'] == 'lightning':
        return lightning_spawn()
    else:
        found = (TASK if ENV['LAYOUT'] == 'task' else NODE)[ENV['TRAINER']]()
    if 'TORCH' in ENV:
        return met(meet_torch(*found[:2]))
    return met(meet(*found))


def work_all():
    """All of TRAINERS in one process: what each reads is one and the same rendezvous, which PyTorch joins."""
    found = {TASK[name]() for name in ENV['TRAINERS'].split()}
    assert len(found) == 1, found
    rank, size = found.pop()[:2]
    meet_torch(rank, size)
    for ENV['TRAINER'] in ENV['TRAINERS'].split():
        met((rank, size))
    return 0


def main():
    name = os.path.basename(sys.argv[0])
    if name in LAUNCHERS and not is_started():
        return LAUNCHERS[name](sys.argv[1:])
    return work_all() if 'TRAINERS' in ENV else work()


if __name__ == '__main__':
    sys.exit(main())

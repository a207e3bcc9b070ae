#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The usual recipe, for comparison: the rendezvous made by hand from what Slurm
# says.  The first host name may resolve to an address that other nodes do not
# reach, and the port may be taken; that is what --nccl-autoconf looks after.
#
#	srun -N2 --ntasks-per-node=2 contrib/examples/by-hand.sh python3 train.py
set -eu

MASTER_ADDR=$(scontrol show hostnames "$SLURM_STEP_NODELIST" | head -n 1)
export MASTER_ADDR MASTER_PORT=29500
export RANK="$SLURM_PROCID" LOCAL_RANK="$SLURM_LOCALID" WORLD_SIZE="$SLURM_NTASKS"
exec "$@"

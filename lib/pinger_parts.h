/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the pinger share. */
#ifndef NCA_PINGER_PARTS_H
#define NCA_PINGER_PARTS_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>

#include <nca/pinger.h>
#include <nca/sysroot.h>

/* A small message shows whether anything arrives, a large one fills many frames of any MTU. */
#define NCA_PINGER_SMALL 64
#define NCA_PINGER_LARGE 65536

/* As in the wr_id of a work request, below the number of the queue pair. */
enum nca_work { NCA_SEND_SMALL, NCA_SEND_LARGE, NCA_RECV_SMALL, NCA_RECV_LARGE, NCA_WORKS };

/* Instead of an enum ibv_wc_status. */
#define NCA_WORK_NONE (-2)    /* not posted */
#define NCA_WORK_PENDING (-1) /* no completion yet */

struct nca_pinger_qp {
	struct ibv_qp *qp;
	int status[NCA_WORKS];
	int vendor; /* vendor_err of the send that failed */
};

/* An HCA, with one piece of memory for all its queue pairs: nobody looks into what arrives, and so
 * little of it fits into any limit on locked memory. */
struct nca_pinger_device {
	char *name;
	int error; /* 0: open */
	char *why;
	struct ibv_context *context;
	struct ibv_pd *pd;
	char *memory; /* what is sent, then what is received */
	struct ibv_mr *mr;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	bool fatal; /* the HCA says that it has failed */
};

struct nca_pinger_counter {
	const char *dir, *name;
	long long value; /* -1: the port has none */
};

struct nca_pinger_port {
	struct nca_pinger_device *device;
	int number, gid_index, pkey_index, sl, tc;
	int error; /* 0: the queue pairs are there */
	char *why;
	bool roce;
	bool grh; /* needs a GRH in its own subnet too, as of an HCA that virtual machines share */
	int lid, mtu; /* bytes */
	char *gid;    /* as text; NULL: cannot be read */
	char *ndev, *mac;
	struct nca_pinger_qp *qps; /* set by set */
	bool *used;		   /* sets that have a partner */
	NCA_LIST(struct nca_pinger_counter) counters;
};

struct nca_pinger_partner {
	struct nca_pinger *pinger;
	struct nca_pinger_port *port;
	struct nca_pinger_qp *qps; /* those of its set */
	int *qpns;		   /* the partner's */
	int lid, mtu;
	union ibv_gid gid;
	char *gid_text;
	int error; /* of the move to RTR or RTS; 0: connected */
	pthread_t thread;
	bool started;	  /* in a thread */
	int outcome;	  /* as error, of the thread */
	atomic_bool done; /* outcome is there */
};

/* All belongs to a pool of its own, so that it can outlive its owner with a thread that hangs. */
struct nca_pinger {
	struct nca_pool *pool;
	int root_fd; /* own */
	int sets, qps;
	struct ibv_device **list; /* while devices are opened */
	NCA_LIST(struct nca_pinger_device) devices;
	NCA_LIST(struct nca_pinger_port) ports;
	NCA_LIST(struct nca_pinger_partner) partners;
	bool linked, pinged;
	int event; /* counts threads that are done */
	bool hung;
	long long counted_ms; /* when the counters were read */
};

/* The wr_id of a work request; the kinds of work are the lowest two bits. */
static inline uint64_t nca_pinger_id(const struct nca_pinger *p, const struct nca_pinger_port *port,
				     const struct nca_pinger_qp *qp, enum nca_work work)
{
	size_t n = (size_t)(port - p->ports.v) * (size_t)(p->sets * p->qps);

	return (n + (size_t)(qp - port->qps)) * NCA_WORKS + work;
}

/* Opens the device and fills all but the name. Its error is 0, or errno with the reason. */
void nca_pinger_device_open(struct nca_pinger *p, struct nca_pinger_device *d, int cqes);
void nca_pinger_device_close(struct nca_pinger_device *d);

/* The errno of a failure, its text and, where locked memory may be short, the cure; never 0. */
int nca_pinger_why(struct nca_pool *pool, char **why, int error, const char *name,
		   const char *what);

/*
 * The GID of a port, and of RoCE the netdev that it belongs to and its MAC; what cannot be read
 * stays NULL. InfiniBand: gid_index becomes that of the GID with a FLID, else 0 (NCCL 2.30,
 * src/transport/net_ib/connect.cc, ncclIbGetGidIndex()).
 */
void nca_pinger_gid_read(const struct nca_pinger *p, struct nca_pinger_port *port);

/* The LID at which InfiniBand's routers take what is for the GID's subnet; 0: there are none. */
int nca_pinger_gid_flid(const union ibv_gid *gid);

/* As NCCL compares InfiniBand's subnets: by the last 16 bits of the prefix (connect.cc,
 * ncclIbExtractLocalSubnetPrefix()), since those before them are the FLID's. */
bool nca_pinger_gid_same_subnet(const union ibv_gid *a, const union ibv_gid *b);

/* Can the kernel's driver and libibverbs share an HCA's memory with a GPU's by dmabuf? -1: unknown.
 */
int nca_pinger_dmabuf(const struct nca_pinger_device *d);

struct nca_dump;

/* The MAC of an address on an interface, in the answer to RTM_GETNEIGH; NULL where none stands
 * there. Pure. */
char *nca_neighbour_find(const struct nca_dump *dump, int ifindex, const struct nca_ip *ip,
			 struct nca_pool *pool);

/* The neighbours of the partners that are connected, as the kernel has resolved them, into
 * answer->partners[].mac. What cannot be read stays unknown. 0 or -ENOMEM. */
int nca_pinger_neighbours(const struct nca_pinger *p, struct nca_pool *pool,
			  struct nca_linked *answer);

/* Reads the counters of a port for the first time. -ENOMEM. */
int nca_pinger_count(struct nca_pinger *p, struct nca_pinger_port *port);

/* What has risen since, and the settings that should be the same on all nodes. -ENOMEM. */
int nca_pinger_hints(struct nca_pinger *p, struct nca_pool *pool, struct nca_pinged *answer);

#endif

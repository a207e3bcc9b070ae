/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Authenticated messages over one TCP connection between the hub and an agent.
 *
 * Each side opens with 4 bytes "NCA" and a version, and 16 random bytes. Every message then carries
 * a keyed hash (BLAKE2b, libsodium) over both random values, the direction, a running number and
 * the message, so that nothing can be forged, replayed or reflected without the step's secret. The
 * secret itself never crosses. Messages are not encrypted: they hold what every user of the nodes
 * can read anyway.
 */
#ifndef NCA_CHANNEL_H
#define NCA_CHANNEL_H

#include <stdint.h>

#include <nca/error.h>
#include <nca/launch.h>

#define NCA_CHANNEL_VERSION 1
#define NCA_NONCE_BYTES 16

/* A report of a node with very many interfaces stays far below. */
#define NCA_FRAME_MAX ((size_t)1 << 20)

enum nca_side { NCA_SIDE_HUB, NCA_SIDE_AGENT };

struct nca_buffer {
	uint8_t *data;
	size_t used, size;
	size_t taken; /* of the front: handed out, dropped at the next call */
};

struct nca_channel {
	int fd;
	enum nca_side side;
	uint8_t key[NCA_SECRET_BYTES];
	uint8_t nonce[2][NCA_NONCE_BYTES]; /* by side */
	bool ready;			   /* the other side's opening has come */
	uint64_t sent, received;
	struct nca_buffer in, out;
};

struct nca_frame {
	uint32_t type;
	const char
		*payload; /* ends with a NUL that len does not count; valid until the next read */
	size_t len;
};

/* Reads 64 hex digits. -EINVAL. */
int nca_key_parse(const char *hex, uint8_t key[NCA_SECRET_BYTES]);

/* Takes over fd, makes it non-blocking and queues the opening. On failure fd is closed too. */
int nca_channel_open(struct nca_channel *ch, int fd, enum nca_side side,
		     const uint8_t key[NCA_SECRET_BYTES], struct nca_error *err);

/* Closes the descriptor and frees the buffers; a channel that was never opened must be zero with fd
 * -1. */
void nca_channel_close(struct nca_channel *ch);

/* Queues a message; the channel must be ready. Payload may be NULL with len 0. -ENOMEM, -EMSGSIZE.
 */
int nca_channel_send(struct nca_channel *ch, uint32_t type, const char *payload, size_t len,
		     struct nca_error *err);

/* Writes what is queued as far as it goes. 0: all is written; -EAGAIN: the rest later; -errno. */
int nca_channel_flush(struct nca_channel *ch);

/* Reads what is there. 0: something came; -EAGAIN: nothing; -ECONNRESET: the other side has closed;
 * -errno. */
int nca_channel_read(struct nca_channel *ch);

/*
 * The other side's opening alone; a message behind it stays for nca_channel_next(). 1: it has come;
 * 0: not yet; below 0 as nca_channel_next().
 */
int nca_channel_greet(struct nca_channel *ch, struct nca_error *err);

/*
 * The next whole message. 1: *ret is it; 0: none yet; -EBADMSG: not of this step (wrong secret or
 * not our protocol); -EPROTONOSUPPORT: another version, which the text names.
 */
int nca_channel_next(struct nca_channel *ch, struct nca_frame *ret, struct nca_error *err);

#endif

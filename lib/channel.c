/* SPDX-License-Identifier: Apache-2.0 */
/* Authenticated messages over TCP. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <sodium.h>

#include <nca/channel.h>

#define OPENING_BYTES (4 + NCA_NONCE_BYTES)
#define MAC_BYTES 32

/* Before the payload on the wire, in network order. */
struct head {
	uint32_t len;
	uint32_t type;
};

static const uint8_t magic[4] = {'N', 'C', 'A', NCA_CHANNEL_VERSION};

int nca_key_parse(const char *hex, uint8_t key[NCA_SECRET_BYTES])
{
	size_t len;

	if (sodium_hex2bin(key, NCA_SECRET_BYTES, hex, strlen(hex), NULL, &len, NULL) ||
	    len != NCA_SECRET_BYTES)
		return -EINVAL;
	return 0;
}

static int reserve(struct nca_buffer *b, size_t more)
{
	size_t size = b->size ? b->size : 4096;
	uint8_t *data;

	while (size - b->used < more)
		size *= 2;
	if (size == b->size)
		return 0;
	data = realloc(b->data, size);
	if (!data)
		return -ENOMEM;
	b->data = data;
	b->size = size;
	return 0;
}

static int append(struct nca_buffer *b, const void *data, size_t len)
{
	int rc = reserve(b, len);

	if (!rc && len) {
		memcpy(b->data + b->used, data, len);
		b->used += len;
	}
	return rc;
}

/* An empty buffer is given back: a hub has one connection per node, most of which say nothing. */
static void consume(struct nca_buffer *b, size_t len)
{
	b->used -= len;
	if (b->used) {
		memmove(b->data, b->data + len, b->used);
		return;
	}
	free(b->data);
	b->data = NULL;
	b->size = 0;
}

int nca_channel_open(struct nca_channel *ch, int fd, enum nca_side side,
		     const uint8_t key[NCA_SECRET_BYTES], struct nca_error *err)
{
	int flags = fcntl(fd, F_GETFL), yes = 1;

	*ch = (struct nca_channel){.fd = fd, .side = side};
	memcpy(ch->key, key, sizeof(ch->key));
	if (sodium_init() < 0 || flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
		nca_channel_close(ch);
		return nca_fail(err, -EIO, "cannot prepare the connection: %m");
	}
	/* Else the end of a report waits for the other side's delayed acknowledgement, 40 ms
	 * (tcp(7)); what is not TCP does not know it. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	randombytes_buf(ch->nonce[side], NCA_NONCE_BYTES);
	if (append(&ch->out, magic, sizeof(magic)) ||
	    append(&ch->out, ch->nonce[side], NCA_NONCE_BYTES)) {
		nca_channel_close(ch);
		return nca_fail_memory(err);
	}
	return 0;
}

void nca_channel_close(struct nca_channel *ch)
{
	if (ch->fd >= 0)
		close(ch->fd);
	ch->fd = -1;
	sodium_memzero(ch->key, sizeof(ch->key));
	free(ch->in.data);
	free(ch->out.data);
	ch->in = ch->out = (struct nca_buffer){0};
}

static void seal(const struct nca_channel *ch, enum nca_side from, uint64_t number,
		 const struct head *head, const void *payload, uint8_t mac[MAC_BYTES])
{
	crypto_generichash_state state;
	uint64_t n = htobe64(number);
	uint8_t side = (uint8_t)from;

	crypto_generichash_init(&state, ch->key, sizeof(ch->key), MAC_BYTES);
	crypto_generichash_update(&state, ch->nonce[NCA_SIDE_HUB], NCA_NONCE_BYTES);
	crypto_generichash_update(&state, ch->nonce[NCA_SIDE_AGENT], NCA_NONCE_BYTES);
	crypto_generichash_update(&state, &side, 1);
	crypto_generichash_update(&state, (const uint8_t *)&n, sizeof(n));
	crypto_generichash_update(&state, (const uint8_t *)head, sizeof(*head));
	crypto_generichash_update(&state, payload, ntohl(head->len));
	crypto_generichash_final(&state, mac, MAC_BYTES);
}

int nca_channel_send(struct nca_channel *ch, uint32_t type, const char *payload, size_t len,
		     struct nca_error *err)
{
	struct head head = {htonl((uint32_t)len), htonl(type)};
	uint8_t mac[MAC_BYTES];

	if (!ch->ready || len > NCA_FRAME_MAX)
		return nca_fail(err, -EMSGSIZE, "a message of %zu bytes cannot be sent", len);
	seal(ch, ch->side, ch->sent, &head, payload, mac);
	if (reserve(&ch->out, sizeof(head) + len + sizeof(mac)))
		return nca_fail_memory(err);
	append(&ch->out, &head, sizeof(head));
	append(&ch->out, payload, len);
	append(&ch->out, mac, sizeof(mac));
	ch->sent++;
	return 0;
}

int nca_channel_flush(struct nca_channel *ch)
{
	while (ch->out.used) {
		ssize_t n = send(ch->fd, ch->out.data, ch->out.used, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		consume(&ch->out, (size_t)n);
	}
	return 0;
}

int nca_channel_read(struct nca_channel *ch)
{
	ssize_t n;

	/* One byte more than the data, for the NUL behind a payload. */
	if (reserve(&ch->in, 4096 + 1))
		return -ENOMEM;
	do {
		n = recv(ch->fd, ch->in.data + ch->in.used, ch->in.size - ch->in.used - 1, 0);
	} while (n < 0 && errno == EINTR);
	if (n == 0)
		return -ECONNRESET;
	if (n < 0)
		return -errno;
	ch->in.used += (size_t)n;
	return 0;
}

int nca_channel_greet(struct nca_channel *ch, struct nca_error *err)
{
	enum nca_side other = ch->side == NCA_SIDE_HUB ? NCA_SIDE_AGENT : NCA_SIDE_HUB;

	if (ch->ready)
		return 1;
	if (ch->in.used < OPENING_BYTES)
		return 0;
	if (memcmp(ch->in.data, magic, 3) != 0)
		return nca_fail(err, -EBADMSG, "not a connection of ours");
	if (ch->in.data[3] != magic[3])
		return nca_fail(err, -EPROTONOSUPPORT,
				"the other side speaks version %u of the protocol, this one %u: "
				"install one release of nccl-autoconf everywhere",
				ch->in.data[3], magic[3]);
	memcpy(ch->nonce[other], ch->in.data + 4, NCA_NONCE_BYTES);
	consume(&ch->in, OPENING_BYTES);
	ch->ready = true;
	return 1;
}

/* The payload is moved to the front of the buffer's rest, where a NUL fits behind it without
 * touching the next message. */
static void take(struct nca_channel *ch, const struct head *head, struct nca_frame *ret)
{
	uint8_t *payload = ch->in.data + sizeof(*head);

	ret->type = ntohl(head->type);
	ret->len = ntohl(head->len);
	memmove(ch->in.data, payload, ret->len);
	ch->in.data[ret->len] = '\0';
	ret->payload = (char *)ch->in.data;
}

/* What next() has handed out stays in the buffer until it is asked again. */
static void drop_taken(struct nca_channel *ch)
{
	if (ch->in.taken)
		consume(&ch->in, ch->in.taken);
	ch->in.taken = 0;
}

int nca_channel_next(struct nca_channel *ch, struct nca_frame *ret, struct nca_error *err)
{
	enum nca_side other = ch->side == NCA_SIDE_HUB ? NCA_SIDE_AGENT : NCA_SIDE_HUB;
	uint8_t mac[MAC_BYTES];
	struct head head;
	size_t len;
	int rc;

	drop_taken(ch);
	rc = nca_channel_greet(ch, err);
	if (rc <= 0 || ch->in.used < sizeof(head))
		return rc < 0 ? rc : 0;
	memcpy(&head, ch->in.data, sizeof(head));
	len = ntohl(head.len);
	if (len > NCA_FRAME_MAX)
		return nca_fail(err, -EBADMSG, "a message of %zu bytes is not one of ours", len);
	if (ch->in.used < sizeof(head) + len + sizeof(mac))
		return 0;
	seal(ch, other, ch->received, &head, ch->in.data + sizeof(head), mac);
	if (sodium_memcmp(mac, ch->in.data + sizeof(head) + len, sizeof(mac)) != 0)
		return nca_fail(err, -EBADMSG, "a message without the step's secret");
	ch->received++;
	take(ch, &head, ret);
	ch->in.taken = sizeof(head) + len + sizeof(mac);
	return 1;
}

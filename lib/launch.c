/* SPDX-License-Identifier: Apache-2.0 */
/* Records, and the mailbox between slurmstepd and the agent. Linked into the plugin: libc only. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include <nca/clock.h>
#include <nca/launch.h>

const char *nca_record_next(const char *buf, size_t size, size_t *pos)
{
	const char *record = buf + *pos;
	size_t len;

	if (*pos >= size)
		return NULL;
	len = strnlen(record, size - *pos);
	if (len == 0 || len == size - *pos)
		return NULL;
	*pos += len + 1;
	return record;
}

int nca_record_add(char *buf, size_t size, size_t *used, const char *prefix, const char *text)
{
	size_t lp = strlen(prefix), lt = strlen(text);

	if (lp + lt + 2 > size - *used)
		return -ENOSPC;
	memcpy(buf + *used, prefix, lp);
	memcpy(buf + *used + lp, text, lt);
	*used += lp + lt + 1;
	buf[*used - 1] = '\0';
	buf[*used] = '\0';
	return 0;
}

bool nca_is_mpi_daemon(const char *program)
{
	static const char *const names[] = {"orted", "prted", "hydra_pmi_proxy"};
	size_t len = strcspn(program, " "), i, n;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		n = strlen(names[i]);
		if (len >= n && strncmp(program + len - n, names[i], n) == 0 &&
		    (len == n || program[len - n - 1] == '/'))
			return true;
	}
	return false;
}

const char *nca_task_assignment(const char *record, char name[NCA_TASK_NAME_MAX])
{
	const char *equals = strchr(record + 1, '=');
	size_t len = equals ? (size_t)(equals - record) - 1 : 0;

	if (!equals || len >= NCA_TASK_NAME_MAX)
		return NULL;
	memcpy(name, record + 1, len);
	name[len] = '\0';
	return equals + 1;
}

/* Not FUTEX_PRIVATE: the word is shared between processes. */
static long futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

void nca_word_set(_Atomic uint32_t *word, uint32_t value)
{
	uint32_t none = 0;

	/* Woken in any case: somebody out of order may have written the word and no more. */
	atomic_compare_exchange_strong(word, &none, value);
	futex(word, FUTEX_WAKE, INT_MAX, NULL);
}

uint32_t nca_word_wait(_Atomic uint32_t *word, int timeout_ms)
{
	long long end = nca_clock_ms() + timeout_ms;

	while (atomic_load(word) == 0) {
		long long left = end - nca_clock_ms();
		struct timespec t = {left / 1000, left % 1000 * 1000000};

		if (left <= 0)
			break;
		futex(word, FUTEX_WAIT, 0, &t);
	}
	return atomic_load(word);
}

void nca_mailbox_close(struct nca_mailbox *box, enum nca_mailbox_state state)
{
	nca_word_set(&box->state, (uint32_t)state);
}

enum nca_mailbox_state nca_mailbox_wait(struct nca_mailbox *box, int timeout_ms)
{
	return (enum nca_mailbox_state)nca_word_wait(&box->state, timeout_ms);
}

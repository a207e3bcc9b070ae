/* SPDX-License-Identifier: Apache-2.0 */
/* What srun's plugin orders from the hub. */
#include <errno.h>
#include <limits.h>

#include <nca/channel.h>
#include <nca/number.h>

#include "conf_file.h"
#include "order.h"

/* The two NUL bytes that end the records may come in any number of pieces. */
static int read_records(int fd, char *buf, size_t size, struct nca_error *err)
{
	size_t used = 0;

	while (used < 2 || buf[used - 1] || buf[used - 2]) {
		ssize_t n = read(fd, buf + used, size - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return nca_fail(err, -EINVAL, "the order of srun's plugin is cut short");
		used += (size_t)n;
	}
	return 0;
}

static const char *value_of(const char *record, const char *prefix)
{
	return nca_has_prefix(record, prefix) ? record + strlen(prefix) : NULL;
}

static int keep_words(struct nca_order *o, const char *list, struct nca_pool *pool)
{
	while (*list) {
		size_t len = strcspn(list, ","), key = strcspn(list, "=,");
		struct nca_pair *p = len ? NCA_APPEND(pool, o->words) : NULL;

		if (len && !p)
			return -ENOMEM;
		if (len) {
			p->key = nca_pool_strndup(pool, list, key);
			p->value = nca_pool_strndup(pool, list + key + (key < len),
						    len - key - (key < len));
		}
		list += len + (list[len] == ',');
	}
	return 0;
}

/*
 * Words come in rising precedence, as the plugin writes them: plugstack, environment, user; the
 * file comes before all. A bad word outside the user's own list was said where it stands.
 */
static int read_options(struct nca_order *o, char *const *names, size_t n, struct nca_error *err)
{
	const char *record, *v;
	size_t pos = 0;
	int rc = 0;

	nca_options_init(&o->opt);
	nca_conf_words(&o->conf, names, n, &o->opt);
	while (!rc && (record = nca_record_next(o->records, NCA_MAILBOX_SIZE, &pos))) {
		if ((v = value_of(record, NCA_HUB_PLUGSTACK)))
			nca_option_set(&o->opt, v, NCA_FROM_PLUGSTACK, NULL);
		else if ((v = value_of(record, NCA_HUB_ENV)))
			nca_options_parse(&o->opt, v, NCA_FROM_ENV, NULL);
		else if ((v = value_of(record, NCA_HUB_USER)))
			rc = nca_options_parse(&o->opt, v, NCA_FROM_USER, err);
	}
	nca_options_finish(&o->opt);
	return rc;
}

static int read_one(const char *record, struct nca_pool *pool, struct nca_order *o)
{
	const char *v;
	unsigned int n = 0;
	int rc = 0;

	if ((v = value_of(record, NCA_HUB_SECRET)))
		return nca_key_parse(v, o->key);
	if ((v = value_of(record, NCA_HUB_EXCUSE)))
		o->excuse = nca_pool_strdup(pool, v);
	else if ((v = value_of(record, NCA_HUB_STEP)))
		o->step = nca_pool_strdup(pool, v);
	else if ((v = value_of(record, NCA_HUB_ARG)))
		o->command = nca_pool_printf(pool, "%s%s%s", o->command ? o->command : "",
					     o->command ? " " : "", v);
	else if ((v = value_of(record, NCA_HUB_NNODES))) {
		rc = nca_parse_u32(v, 0, 1 << 20, &n);
		o->nnodes = n;
	} else if ((v = value_of(record, NCA_HUB_SRUN))) {
		rc = nca_parse_u32(v, 1, INT_MAX, &n);
		o->srun = (int)n;
	}
	return rc;
}

/* Only plugstack.conf says where the file is. */
static int read_conf(struct nca_order *o, struct nca_pool *pool, struct nca_error *err)
{
	struct nca_options plugstack;
	const char *record, *v;
	size_t pos = 0;

	nca_options_init(&plugstack);
	while ((record = nca_record_next(o->records, NCA_MAILBOX_SIZE, &pos)))
		if ((v = value_of(record, NCA_HUB_PLUGSTACK)))
			nca_option_set(&plugstack, v, NCA_FROM_PLUGSTACK, NULL);
	return nca_conf_read(plugstack.conf[0] ? plugstack.conf : NULL, NULL, pool, &o->conf, err);
}

/* What was asked for, for a saved job: environment and user. */
static int read_words(struct nca_order *o, struct nca_pool *pool)
{
	const char *record, *v;
	struct nca_options scratch;
	size_t pos = 0;
	int rc = 0;

	nca_options_init(&scratch);
	while (!rc && (record = nca_record_next(o->records, NCA_MAILBOX_SIZE, &pos))) {
		v = value_of(record, NCA_HUB_ENV);
		v = v ? v : value_of(record, NCA_HUB_USER);
		if (v && !nca_options_parse(&scratch, v, NCA_FROM_USER, NULL))
			rc = keep_words(o, v, pool);
	}
	return rc;
}

int nca_order_read(int fd, struct nca_pool *pool, struct nca_order *ret, struct nca_error *err)
{
	struct nca_order o = {.records = nca_pool_alloc(pool, NCA_MAILBOX_SIZE)};
	const char *record;
	size_t pos = 0;
	int rc = o.records ? read_records(fd, o.records, NCA_MAILBOX_SIZE, err) : -ENOMEM;

	if (rc)
		return rc;
	while (!rc && (record = nca_record_next(o.records, NCA_MAILBOX_SIZE, &pos)))
		rc = read_one(record, pool, &o);
	if (rc || !o.srun)
		return nca_fail(
			err, -EINVAL,
			"plugin and program do not fit: install one release of nccl-autoconf");
	rc = read_conf(&o, pool, err);
	rc = rc ? rc : read_options(&o, NULL, 0, err);
	rc = rc ? rc : read_words(&o, pool);
	if (!rc)
		*ret = o;
	return rc;
}

int nca_order_scope(struct nca_order *o, char *const *names, size_t n, struct nca_error *err)
{
	return read_options(o, names, n, err);
}

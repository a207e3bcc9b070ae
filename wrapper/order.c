/* SPDX-License-Identifier: Apache-2.0 */
/* What srun's plugin orders from the hub. */
#include <errno.h>
#include <limits.h>

#include <nca/channel.h>
#include <nca/file.h>
#include <nca/number.h>

#include "order.h"

#define CONF_FILE "/etc/nccl-autoconf.conf"

typedef void (*warn_fn)(const char *fmt, ...) NCA_PRINTF(1, 2);

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

/* A line is one word, as on the command line; # begins a comment. */
static void read_conf(const char *path, bool must_exist, struct nca_options *opt, warn_fn warn)
{
	nca_autofree char *text = NULL;
	struct nca_error err;
	char *line, *rest;
	size_t len;
	int number = 0, rc = nca_file_read(path, &text, &len, &err);

	if (rc && (must_exist || rc != -ENOENT))
		warn("%s (ignored)", err.text);
	for (rest = rc ? NULL : text; (line = strsep(&rest, "\n"));) {
		number++;
		line[strcspn(line, "#")] = '\0';
		line += strspn(line, " \t\r");
		line[strcspn(line, " \t\r")] = '\0';
		if (line[0] && nca_option_set(opt, line, NCA_FROM_FILE, &err))
			warn("%s line %d: %s (ignored)", path, number, err.text);
	}
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

/* Words come in rising precedence, as the plugin writes them: plugstack, environment, user. */
static int read_options(const char *buf, size_t size, struct nca_pool *pool, struct nca_order *o,
			struct nca_error *err)
{
	struct nca_error why;
	const char *record, *v;
	size_t pos = 0;
	int rc = 0;

	while (!rc && (record = nca_record_next(buf, size, &pos))) {
		if ((v = value_of(record, NCA_HUB_PLUGSTACK)))
			nca_option_set(&o->opt, v, NCA_FROM_PLUGSTACK, NULL);
		else if ((v = value_of(record, NCA_HUB_ENV)) &&
			 !nca_options_parse(&o->opt, v, NCA_FROM_ENV, &why))
			rc = keep_words(o, v, pool);
		else if ((v = value_of(record, NCA_HUB_USER)))
			rc = nca_options_parse(&o->opt, v, NCA_FROM_USER, err)
				     ?: keep_words(o, v, pool);
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

/* The file has the lowest precedence, but only plugstack.conf says which it is. */
static void begin_options(const char *buf, size_t size, warn_fn warn, struct nca_options *opt)
{
	struct nca_options plugstack;
	const char *record, *v;
	size_t pos = 0;

	nca_options_init(&plugstack);
	while ((record = nca_record_next(buf, size, &pos)))
		if ((v = value_of(record, NCA_HUB_PLUGSTACK)))
			nca_option_set(&plugstack, v, NCA_FROM_PLUGSTACK, NULL);
	nca_options_init(opt);
	read_conf(plugstack.conf[0] ? plugstack.conf : CONF_FILE, plugstack.conf[0] != '\0', opt,
		  warn);
}

int nca_order_read(int fd, struct nca_pool *pool, warn_fn warn, struct nca_order *ret,
		   struct nca_error *err)
{
	struct nca_order o = {.nnodes = 0};
	char *buf = nca_pool_alloc(pool, NCA_MAILBOX_SIZE);
	const char *record;
	size_t pos = 0;
	int rc = buf ? read_records(fd, buf, NCA_MAILBOX_SIZE, err) : -ENOMEM;

	if (rc)
		return rc;
	while (!rc && (record = nca_record_next(buf, NCA_MAILBOX_SIZE, &pos)))
		rc = read_one(record, pool, &o);
	if (rc || !o.srun)
		return nca_fail(
			err, -EINVAL,
			"plugin and program do not fit: install one release of nccl-autoconf");
	begin_options(buf, NCA_MAILBOX_SIZE, warn, &o.opt);
	rc = read_options(buf, NCA_MAILBOX_SIZE, pool, &o, err);
	if (!rc)
		*ret = o;
	return rc;
}

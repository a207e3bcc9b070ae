/* SPDX-License-Identifier: Apache-2.0 */
/* A site's configuration file. */
#include <errno.h>

#include <nca/conf.h>
#include <nca/hostlist.h>
#include <nca/near.h>
#include <nca/pin.h>

#define SECTION "[nodes="
#define BLANK " \t\r"

struct reader {
	const char *path;
	int number;
	char *nodes;  /* of the section, NULL: all */
	bool ignored; /* the section is */
	struct nca_pool *pool;
	struct nca_conf *conf;
};

static char *trim(char *s)
{
	size_t n;

	s += strspn(s, BLANK);
	for (n = strlen(s); n && strchr(BLANK, s[n - 1]); n--)
		s[n - 1] = '\0';
	return s;
}

static int refuse(struct reader *r, const char *why)
{
	char **bad = NCA_APPEND(r->pool, r->conf->bad);

	if (!bad)
		return -ENOMEM;
	*bad = nca_pool_printf(r->pool, "%s line %d: %s (ignored)", r->path, r->number, why);
	return *bad ? 0 : -ENOMEM;
}

static int read_section(struct reader *r, char *line)
{
	size_t n = strlen(line);
	struct nca_error err;

	r->ignored = true;
	if (!nca_has_prefix(line, SECTION) || line[n - 1] != ']')
		return refuse(r, "a section begins with [nodes=HOSTLIST]; it ends where the next "
				 "begins");
	line[n - 1] = '\0';
	if (nca_hostlist_check(line + strlen(SECTION), &err))
		return refuse(r, err.text);
	r->ignored = false;
	r->nodes = nca_pool_strdup(r->pool, line + strlen(SECTION));
	return r->nodes ? 0 : -ENOMEM;
}

/* Is it a word or a pin? The text of -EINVAL names the near ones of both. */
static int check(const char *key, const char *value, bool *is_word, struct nca_error *err)
{
	char near[NCA_NEAR_MAX] = "";
	struct nca_options scratch;
	int rc = nca_pin_check(key, value, err);

	*is_word = rc == -ENOENT;
	if (!*is_word)
		return rc;
	nca_options_init(&scratch);
	rc = nca_option_set_pair(&scratch, key, value, NCA_FROM_FILE, err);
	if (rc != -ENOENT)
		return rc;
	nca_option_near(key, NCA_FROM_FILE, near);
	nca_pin_near(key, near);
	nca_near_end(near);
	return nca_fail(err, -EINVAL, "unknown word \"%.64s\"%s", key, near);
}

static int read_line(struct reader *r, char *line)
{
	char *value = strchr(line, '='), *key;
	struct nca_conf_line *l;
	struct nca_error err;
	bool is_word;

	if (value) {
		*value = '\0';
		value = trim(value + 1);
	}
	key = trim(line);
	if (strpbrk(key, BLANK) || (value && strpbrk(value, BLANK)))
		return refuse(r, "one word a line");
	if (check(key, value, &is_word, &err))
		return refuse(r, err.text);
	l = NCA_APPEND(r->pool, r->conf->lines);
	if (!l)
		return -ENOMEM;
	*l = (struct nca_conf_line){r->nodes, nca_pool_strdup(r->pool, key),
				    nca_pool_strdup(r->pool, value), is_word};
	return l->key && (l->value || !value) ? 0 : -ENOMEM;
}

int nca_conf_parse(char *text, const char *path, struct nca_pool *pool, struct nca_conf *ret)
{
	struct reader r = {.path = path, .pool = pool, .conf = ret};
	char *line, *rest = text;
	int rc = 0;

	*ret = (struct nca_conf){0};
	while (!rc && (line = strsep(&rest, "\n"))) {
		r.number++;
		line[strcspn(line, "#")] = '\0';
		line = trim(line);
		if (line[0] == '[')
			rc = read_section(&r, line);
		else if (line[0] && !r.ignored)
			rc = read_line(&r, line);
	}
	return rc;
}

static bool has_all(const char *nodes, char *const *names, size_t n)
{
	size_t i;

	for (i = 0; nodes && i < n; i++)
		if (!nca_hostlist_has(nodes, names[i]))
			return false;
	return !nodes || n;
}

void nca_conf_words(const struct nca_conf *conf, char *const *names, size_t n,
		    struct nca_options *opt)
{
	const struct nca_conf_line *l;

	NCA_FOREACH(l, conf->lines)
		if (l->is_word && has_all(l->nodes, names, n))
			nca_option_set_pair(opt, l->key, l->value, NCA_FROM_FILE, NULL);
}

/* A later line replaces an earlier one. */
static struct nca_pair *find_or_add(struct nca_pool *pool, struct nca_node *node, const char *key)
{
	struct nca_pair *p;

	NCA_FOREACH(p, node->site)
		if (streq(p->key, key))
			return p;
	return NCA_APPEND(pool, node->site);
}

int nca_conf_site(const struct nca_conf *conf, struct nca_pool *pool, struct nca_node *node)
{
	const struct nca_conf_line *l;
	struct nca_pair *p;

	node->site.v = NULL;
	node->site.n = 0;
	NCA_FOREACH(l, conf->lines) {
		if (l->is_word || !has_all(l->nodes, &node->name, 1))
			continue;
		p = find_or_add(pool, node, l->key);
		if (!p)
			return -ENOMEM;
		*p = (struct nca_pair){l->key, l->value};
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The pins of a site's configuration file. */
#include <errno.h>

#include <nca/addr.h>
#include <nca/near.h>
#include <nca/number.h>
#include <nca/pin.h>

enum kind { NAMES, SUBNET, NUMBER, CHOICE };

static const struct row {
	const char *name;
	enum kind kind;
	const char *choices[2]; /* CHOICE */
	unsigned int min, max;	/* NUMBER */
	const char *arg;	/* as help shows it */
	const char *help;
} rows[] = {
	{"control-interface", NAMES, .arg = "NAME[,NAME...]",
	 .help = "the interface of the start-up traffic, and of the data where TCP carries it"},
	{"control-subnet", SUBNET, .arg = "CIDR", .help = "likewise, by its address"},
	{"rail-hca", NAMES, .arg = "HCA[:PORT][,...]",
	 .help = "the HCA ports for RDMA, in rail order: place i is the same rail on every node"},
	{"rail-exclude", NAMES, .arg = "HCA[:PORT][,...]", .help = "HCA ports that are never used"},
	{"rail-link-layer", CHOICE, .choices = {"infiniband", "ethernet"},
	 .arg = "infiniband|ethernet", .help = "HCA ports of another link layer are not used"},
	{"rail-subnet", SUBNET, .arg = "CIDR",
	 .help = "RoCE: only ports with a GID of this network, and only those GIDs"},
	{"rail-min-gbps", NUMBER, .min = 1, .max = 100000, .arg = "N",
	 .help = "slower HCA ports are not used"},
	{"rail-count", NUMBER, .min = 1, .max = 32, .arg = "N",
	 .help = "a node with fewer usable HCA ports is named in a warning"},
	{"gid-family", CHOICE, .choices = {"ipv4", "ipv6"}, .arg = "ipv4|ipv6",
	 .help = "RoCE: the family of the GIDs of all rails"},
	{"allow-vf", CHOICE, .choices = {"yes", "no"}, .arg = "yes|no",
	 .help = "no: virtual functions are never used"},
	{"allow-virtual", CHOICE, .choices = {"yes", "no"}, .arg = "yes|no",
	 .help = "software RDMA (rxe): yes: also beside real HCAs; no: never"},
	{"frontend-rule", CHOICE, .choices = {"on", "off"}, .arg = "on|off",
	 .help = "off: an HCA port below the default route counts like the others"},
};

static const char *const prefixes[] = {"NCCL_", "RCCL_", "NVSHMEM_", "UCX_", "FI_"};

/* What a plan decides, and the pin that says it instead. */
static const struct decided {
	const char *variable, *instead;
} decided[] = {
	{"NCCL_SOCKET_IFNAME", "control-interface="},
	{"NCCL_SOCKET_FAMILY", "control-subnet="},
	{"NCCL_IB_HCA", "rail-hca="},
	{"NCCL_IB_GID_INDEX", "rail-subnet= or gid-family="},
	{"NCCL_IB_ADDR_FAMILY", "gid-family="},
	{"NCCL_IB_ADDR_RANGE", "rail-subnet="},
	{"NCCL_NET", "fallback="},
	{"NCCL_COMM_ID", "nothing: each communicator has its own"},
	{"NCCL_CONF_FILE", "nothing: /etc/nccl.conf holds for every node"},
	{"NVSHMEM_HCA_LIST", "rail-hca="},
	{"NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", "control-interface="},
};

bool nca_pin_is_variable(const char *key)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (nca_has_prefix(key, prefixes[i]))
			return strspn(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(key);
	return false;
}

static int check_variable(const char *key, const char *value, struct nca_error *err)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(decided); i++)
		if (streq(key, decided[i].variable))
			return nca_fail(err, -EINVAL,
					"%s differs from step to step and is decided for each; "
					"what can be fixed here instead: %s",
					key, decided[i].instead);
	return value ? 0 : nca_fail(err, -EINVAL, "%s: write %s=VALUE", key, key);
}

static bool is_good(const struct row *row, const char *value)
{
	struct nca_prefix prefix;
	unsigned int n;

	switch (row->kind) {
	case NAMES:
		return value[0] && value[0] != '=' && value[0] != '^' && value[0] != ',';
	case SUBNET:
		return !nca_prefix_parse(value, 0, &prefix) && prefix.ip.family;
	case NUMBER:
		return !nca_parse_u32(value, row->min, row->max, &n);
	case CHOICE:
		return streq(value, row->choices[0]) || streq(value, row->choices[1]);
	}
	return false;
}

int nca_pin_check(const char *key, const char *value, struct nca_error *err)
{
	const struct row *row;

	if (nca_pin_is_variable(key))
		return check_variable(key, value, err);
	for (row = rows; row < rows + ARRAY_SIZE(rows); row++)
		if (streq(key, row->name))
			break;
	if (row == rows + ARRAY_SIZE(rows))
		return -ENOENT;
	if (value && is_good(row, value))
		return 0;
	if (row->kind == NUMBER)
		return nca_fail(err, -EINVAL, "%s=%s: takes a number from %u to %u", key,
				value ? value : "", row->min, row->max);
	return nca_fail(err, -EINVAL, "%s=%s: takes %s%s", key, value ? value : "", row->arg,
			row->kind == NAMES ? ", whole names without \"=\" and \"^\"" : "");
}

const char *nca_pin_get(const struct nca_node *node, const char *key)
{
	return nca_pairs_get(node->site, key);
}

bool nca_pin_is(const struct nca_node *node, const char *key, const char *word)
{
	return nca_same(nca_pin_get(node, key), word);
}

void nca_pin_near(const char *word, char *buf)
{
	const struct row *row;

	for (row = rows; row < rows + ARRAY_SIZE(rows); row++)
		nca_near_add(word, row->name, "=", buf);
}

void nca_pins_print(FILE *out)
{
	const struct row *row;
	char left[64];

	for (row = rows; row < rows + ARRAY_SIZE(rows); row++) {
		snprintf(left, sizeof(left), "%s=%s", row->name, row->arg);
		fprintf(out, "  %-36s %s\n", left, row->help);
	}
}

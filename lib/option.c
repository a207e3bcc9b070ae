/* SPDX-License-Identifier: Apache-2.0 */
/* The option table and what a word of it does. */
#include <errno.h>
#include <stddef.h>

#include <nca/contract.h>
#include <nca/near.h>
#include <nca/number.h>
#include <nca/option.h>

enum kind {
	SWITCH, /* no argument: writes `value` */
	CHOICE, /* one of `choices`, by its place in the list; a leading "" allows the bare word, as
		   the next choice */
	NUMBER, /* min to max */
	PORTS,	/* A-B: two ints */
	TEXT,	/* NCA_OPTION_TEXT_MAX bytes with its end */
	TRAINER, /* a name of nca/contract.h, 32 bytes with its end */
};

struct row {
	const char *name;
	enum kind kind;
	size_t offset;
	int value;		/* SWITCH: what to write; others: the default, -1 none */
	const char *choices[5]; /* CHOICE */
	int min, max;		/* NUMBER */
	const char *arg;	/* as help shows it */
	const char *help;
	enum nca_origin only; /* the only place where it may stand; NCA_FROM_DEFAULT: anywhere */
};

#define AT(member) .offset = offsetof(struct nca_options, member)

static const struct row rows[] = {
	{"on", SWITCH, AT(on), .value = 1,
	 .help = "find, agree and inject; any other word implies it"},
	{"off", SWITCH, AT(on), .value = 0, .help = "do nothing in this step"},
	{"net", SWITCH, AT(inject), .value = NCA_INJECT_NET,
	 .help = "inject only the NCCL and Gloo variables (the default of a site)"},
	{"rdzv", SWITCH, AT(inject), .value = NCA_INJECT_RDZV,
	 .help = "inject only the rendezvous variables"},
	{"all", SWITCH, AT(inject), .value = NCA_INJECT_ALL,
	 .help = "both (the default when asked for)"},
	{"layout", CHOICE, AT(layout), .choices = {"auto", "task", "node"}, .arg = "auto|task|node",
	 .help = "one task per GPU (task) or one launcher per node (node)"},
	{"nproc", NUMBER, AT(nproc), .value = -1, .min = 1, .max = 1024, .arg = "N",
	 .help = "workers per node in layout node; default: the visible GPUs"},
	{"trainer", TRAINER, AT(trainer), .arg = "NAME",
	 .help = "the variables of this trainer (auto); see nccl-autoconf trainers"},
	{"check", CHOICE, AT(check), .choices = {"", "rdma", "bandwidth", "nccl"},
	 .value = NCA_CHECK_OFF, .arg = "rdma|bandwidth|nccl",
	 .help = "test RDMA between all nodes before the first task starts"},
	{"missing-rail", CHOICE, AT(missing_rail_fail), .choices = {"drop", "fail"},
	 .arg = "drop|fail", .help = "when a node lacks a rail that others have"},
	{"min-rails", NUMBER, AT(min_rails), .value = 1, .min = 1, .max = 32, .arg = "N",
	 .help = "with fewer common rails the step does not start"},
	{"fallback", CHOICE, AT(fallback_fail), .choices = {"socket", "fail"}, .arg = "socket|fail",
	 .help = "when RDMA is not usable on every node; with check: fail"},
	{"broadcast", CHOICE, AT(broadcast), .choices = {"", "step", "job"}, .arg = "step|job",
	 .value = NCA_BROADCAST_OFF,
	 .help = "for launchers that copy one node's environment to all: what differs goes into a "
		 "file that NCCL reads, until the step or the job ends"},
	{"strict", SWITCH, AT(strict), .value = 1,
	 .help = "missing-rail=fail, fallback=fail, and any warning stops the step"},
	{"quiet", SWITCH, AT(quiet), .value = 1, .help = "print warnings only"},
	{"explain", SWITCH, AT(explain), .value = 1,
	 .help = "print every interface and HCA port with the rule that decided"},
	{"save", TEXT, AT(save), .arg = "FILE",
	 .help = "write job and plan as JSON to FILE on the submit host"},
	{"timeout", NUMBER, AT(timeout), .value = 60, .min = 1, .max = 3600, .arg = "SECONDS",
	 .help = "how long to wait for the other nodes after the first has reported"},
	{"rdzv-ports", PORTS, AT(port_first), .value = -1, .arg = "A-B",
	 .help = "where MASTER_PORT may lie"},
	{"default", CHOICE, AT(site_on), .choices = {"off", "on"}, .arg = "off|on",
	 .help = "on: every srun of the cluster, unless it says off", .only = NCA_FROM_PLUGSTACK},
	{"helper", TEXT, AT(helper), .arg = "PATH", .help = "absolute path of nccl-autoconf",
	 .only = NCA_FROM_PLUGSTACK},
	{"conf", TEXT, AT(conf), .arg = "PATH", .help = "the configuration file to read",
	 .only = NCA_FROM_PLUGSTACK},
	{"conf-dir", TEXT, AT(conf_dir), .arg = "DIR",
	 .help = "where broadcast's file lies, on every node", .only = NCA_FROM_FILE},
};

static bool is_switch_on(const struct row *row)
{
	return row->offset == offsetof(struct nca_options, on);
}

/* The file is read where the step is on already. */
static bool may_stand(const struct row *row, enum nca_origin from)
{
	if (from == NCA_FROM_FILE && is_switch_on(row))
		return false;
	return !row->only || row->only == from;
}

static int *int_at(struct nca_options *opt, const struct row *row)
{
	return (int *)((char *)opt + row->offset);
}

void nca_options_init(struct nca_options *opt)
{
	const struct row *row;

	memset(opt, 0, sizeof(*opt));
	for (row = rows; row < rows + ARRAY_SIZE(rows); row++)
		if (row->kind != TEXT && row->kind != TRAINER)
			*int_at(opt, row) = -1;
	opt->port_last = -1;
}

void nca_option_near(const char *word, enum nca_origin from, char *buf)
{
	const struct row *row;

	for (row = rows; row < rows + ARRAY_SIZE(rows); row++)
		if (may_stand(row, from))
			nca_near_add(word, row->name, row->kind == SWITCH ? "" : "=", buf);
}

static int set_choice(struct nca_options *opt, const struct row *row, const char *value,
		      struct nca_error *err)
{
	bool bare = row->choices[0][0] == '\0';
	int i;

	for (i = bare; i < (int)ARRAY_SIZE(row->choices) && row->choices[i]; i++)
		if (value && streq(value, row->choices[i])) {
			*int_at(opt, row) = i;
			return 0;
		}
	if (!value && bare) {
		*int_at(opt, row) = 1;
		return 0;
	}
	return nca_fail(err, -EINVAL, "%s=%s: takes %s", row->name, value ? value : "", row->arg);
}

static int set_number(struct nca_options *opt, const struct row *row, const char *value,
		      struct nca_error *err)
{
	unsigned int n;

	if (!value || nca_parse_u32(value, (unsigned int)row->min, (unsigned int)row->max, &n))
		return nca_fail(err, -EINVAL, "%s=%s: takes a number from %d to %d", row->name,
				value ? value : "", row->min, row->max);
	*int_at(opt, row) = (int)n;
	return 0;
}

static int set_ports(struct nca_options *opt, const struct row *row, const char *value,
		     struct nca_error *err)
{
	const char *dash = value ? strchr(value, '-') : NULL;
	char first[8] = "";
	unsigned int a, b;

	if (dash && dash - value < (ptrdiff_t)sizeof(first))
		memcpy(first, value, (size_t)(dash - value));
	if (!dash || nca_parse_u32(first, 1024, 65535, &a) || nca_parse_u32(dash + 1, a, 65535, &b))
		return nca_fail(err, -EINVAL,
				"%s=%s: takes two ports from 1024 to 65535, as 20000-30000",
				row->name, value ? value : "");
	opt->port_first = (int)a;
	opt->port_last = (int)b;
	return 0;
}

static int set_text(struct nca_options *opt, const struct row *row, const char *value,
		    struct nca_error *err)
{
	if (!value || !value[0] || strlen(value) >= NCA_OPTION_TEXT_MAX)
		return nca_fail(err, -EINVAL, "%s=: takes %s of 1 to %d characters", row->name,
				row->arg, NCA_OPTION_TEXT_MAX - 1);
	memcpy((char *)opt + row->offset, value, strlen(value) + 1);
	return 0;
}

static int set_trainer(struct nca_options *opt, const char *value, struct nca_error *err)
{
	const char *name = value ? value : "";
	char near[NCA_NEAR_MAX] = "";
	size_t i;

	if (name[0] && nca_contract_find(name)) {
		snprintf(opt->trainer, sizeof(opt->trainer), "%s", name);
		return 0;
	}
	for (i = 0; i < nca_contract_count; i++)
		nca_near_add(name, nca_contracts[i].name, "", near);
	nca_near_end(near);
	return nca_fail(err, -EINVAL,
			"trainer=%s: no such trainer%s; nccl-autoconf trainers lists them", name,
			near);
}

static int set_value(struct nca_options *opt, const struct row *row, const char *value,
		     struct nca_error *err)
{
	switch (row->kind) {
	case CHOICE:
		return set_choice(opt, row, value, err);
	case NUMBER:
		return set_number(opt, row, value, err);
	case PORTS:
		return set_ports(opt, row, value, err);
	case TRAINER:
		return set_trainer(opt, value, err);
	case TEXT:
		return set_text(opt, row, value, err);
	case SWITCH:
		break;
	}
	if (value)
		return nca_fail(err, -EINVAL, "%s=%s: takes no value", row->name, value);
	*int_at(opt, row) = row->value;
	return 0;
}

/* In plugstack.conf and the file, words set how it is done; only "on" and default=on set that it is
 * done. */
static void note_on(struct nca_options *opt, const struct row *row, enum nca_origin from)
{
	bool is_on = is_switch_on(row);

	if (from == NCA_FROM_FILE || from == NCA_FROM_PLUGSTACK) {
		if (is_on) {
			opt->site_on = row->value;
			opt->on = -1;
		}
		return;
	}
	if (!is_on)
		opt->on = 1;
	opt->on_from = from;
}

int nca_option_set(struct nca_options *opt, const char *word, enum nca_origin from,
		   struct nca_error *err)
{
	size_t len = strcspn(word, "=");
	const char *value = word[len] ? word + len + 1 : NULL;
	const struct row *row;
	char near[NCA_NEAR_MAX] = "", name[64];
	int rc;

	for (row = rows; row < rows + ARRAY_SIZE(rows); row++)
		if (strlen(row->name) == len && strncmp(row->name, word, len) == 0)
			break;
	if (row == rows + ARRAY_SIZE(rows)) {
		snprintf(name, sizeof(name), "%.*s", (int)len, word);
		nca_option_near(name, from, near);
		nca_near_end(near);
		return nca_fail(err, -ENOENT, "unknown word \"%s\"%s", name, near);
	}
	if (!may_stand(row, from))
		return nca_fail(err, -EPERM, "%s%s may stand only in %s", row->name,
				row->kind == SWITCH ? "" : "=",
				row->only == NCA_FROM_FILE ? "the site's file" : "plugstack.conf");
	rc = set_value(opt, row, value, err);
	if (!rc)
		note_on(opt, row, from);
	return rc;
}

int nca_option_set_pair(struct nca_options *opt, const char *name, const char *value,
			enum nca_origin from, struct nca_error *err)
{
	char word[NCA_OPTION_TEXT_MAX + 64];

	snprintf(word, sizeof(word), "%s%s%s", name, value ? "=" : "", value ? value : "");
	return nca_option_set(opt, word, from, err);
}

int nca_options_parse(struct nca_options *opt, const char *list, enum nca_origin from,
		      struct nca_error *err)
{
	struct nca_options copy = *opt;
	char word[NCA_OPTION_TEXT_MAX + 64];
	int rc = 0;

	if (!list || !list[0])
		list = "on";
	while (!rc && *list) {
		size_t len = strcspn(list, ",");

		if (len >= sizeof(word))
			return nca_fail(err, -EINVAL, "a word of %zu characters is too long", len);
		memcpy(word, list, len);
		word[len] = '\0';
		rc = len ? nca_option_set(&copy, word, from, err) : 0;
		list += len + (list[len] == ',');
	}
	if (!rc)
		*opt = copy;
	return rc;
}

void nca_options_finish(struct nca_options *opt)
{
	const struct row *row;

	if (opt->site_on < 0)
		opt->site_on = 0;
	if (opt->on < 0) {
		opt->on = opt->site_on;
		opt->on_from = opt->site_on ? NCA_FROM_PLUGSTACK : NCA_FROM_DEFAULT;
	}
	if (opt->inject < 0)
		opt->inject = nca_options_by_site(opt) ? NCA_INJECT_NET : NCA_INJECT_ALL;
	/* Who asks for a check wants to know before the trainer starts. */
	if (opt->on && opt->check > NCA_CHECK_OFF && opt->fallback_fail < 0 &&
	    !nca_options_by_site(opt))
		opt->fallback_fail = 1;
	if (opt->strict > 0)
		opt->missing_rail_fail = opt->fallback_fail = 1;
	for (row = rows; row < rows + ARRAY_SIZE(rows); row++) {
		if (row->kind == TEXT || row->kind == TRAINER || *int_at(opt, row) >= 0)
			continue;
		*int_at(opt, row) = row->kind == SWITCH ? 0 : row->value;
	}
}

bool nca_options_by_site(const struct nca_options *opt)
{
	return opt->on > 0 && opt->on_from == NCA_FROM_PLUGSTACK;
}

void nca_options_print(FILE *out)
{
	const struct row *row;
	char left[64];

	for (row = rows; row < rows + ARRAY_SIZE(rows); row++) {
		snprintf(left, sizeof(left), "%s%s%s", row->name, row->arg ? "=" : "",
			 row->arg ? row->arg : "");
		fprintf(out, "  %-28s %s", left, row->help);
		if (row->kind == CHOICE && row->choices[row->value][0])
			fprintf(out, " (%s)", row->choices[row->value]);
		else if (row->kind == NUMBER && row->value >= 0)
			fprintf(out, " (%d)", row->value);
		fprintf(out, "%s\n",
			row->only == NCA_FROM_PLUGSTACK ? "; plugstack.conf only"
			: row->only			? "; /etc/nccl-autoconf.conf only"
							: "");
	}
}

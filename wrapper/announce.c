/* SPDX-License-Identifier: Apache-2.0 */
/* What the hub says of its decision. */
#include <stdio.h>

#include "announce.h"
#include "commands.h"
#include "explain.h"

static void say_summary(const struct nca_decide *d)
{
	const struct nca_preflight *pre = d->preflight;
	const char *line = nca_plan_summary(d->plan, d->job, d->pool);

	if (pre && !streq(pre->verdict, "failed") && !streq(pre->verdict, "untested"))
		nca_say("%s, RDMA tested in %.1f s", line ? line : "agreed", pre->seconds);
	else
		nca_say("%s", line ? line : "agreed");
}

/* What else was seen helps only where something was found. */
static void say_hints(const struct nca_decide *d)
{
	const struct nca_preflight *pre = d->preflight;
	size_t i;

	for (i = 0; pre && pre->findings.n && i < pre->hints.n; i++)
		nca_say("hint: %s", pre->hints.v[i]);
}

static void say_stop(const struct nca_decide *d)
{
	const struct nca_preflight *pre = d->preflight;

	nca_say("the step is not started%s%s%s",
		nca_same(d->plan->verdict, "refuse") ? "" : " (strict)",
		pre && pre->exclude ? ": leave out what failed, with --exclude=" : "",
		pre && pre->exclude ? pre->exclude : "");
}

void nca_announce(const struct nca_decide *d, enum nca_ending ending)
{
	const struct nca_options *opt = &d->order->opt;
	const struct nca_plan *plan = d->plan;
	const struct nca_warning *w;
	const char *line;

	if (opt->explain)
		nca_explain_print(stderr, plan, d->job, true, d->pool);
	else if (ending == NCA_ENDING_INJECT && !opt->quiet && !nca_options_by_site(opt) &&
		 nca_hub_nodes(d->hub) > 1)
		say_summary(d);
	NCA_FOREACH(w, plan->warnings) {
		line = opt->explain ? NULL : nca_explain_warning(w, d->pool);
		if (line)
			nca_say("%s", line);
	}
	say_hints(d);
	if (opt->check > NCA_CHECK_RDMA && ending != NCA_ENDING_STOP)
		nca_say("warning no-check: this release measures no bandwidth and starts no NCCL: "
			"it tests only whether RDMA passes between the nodes");
	if (ending == NCA_ENDING_STOP)
		say_stop(d);
	else if (ending == NCA_ENDING_LEAVE && plan->warnings.n)
		nca_say("nothing is set; the step runs as without us");
}

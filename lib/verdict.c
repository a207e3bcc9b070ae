/* SPDX-License-Identifier: Apache-2.0 */
/* What a ping shows, as a table. */
#include <errno.h>
#include <limits.h>

#include <nca/verdict.h>

#define ANY INT_MIN
#define FAILED (INT_MIN + 1) /* known, and not 0 */

/* enum ibv_wc_status, which this file must not need a library for. */
#define WC_LOC_PROT 4
#define WC_FLUSH 5
#define WC_REM_INV_REQ 9
#define WC_REM_ACCESS 10
#define WC_REM_OP 11
#define WC_RETRY_EXC 12
#define WC_RNR_RETRY 13
#define WC_FATAL 19
#define WC_GENERAL 21

static const struct nca_verdict peer_gid_empty = {"peer-gid-empty", NCA_WHERE_PEER};
static const struct nca_verdict gid_gone = {"gid-gone", NCA_WHERE_LOCAL};
static const struct nca_verdict no_route = {"no-route", NCA_WHERE_LOCAL};
static const struct nca_verdict peer_silent = {"peer-silent", NCA_WHERE_PATH};
static const struct nca_verdict not_connected = {"not-connected", NCA_WHERE_LOCAL};
static const struct nca_verdict wrong_neighbour = {"wrong-neighbour", NCA_WHERE_PEER};
static const struct nca_verdict return_dead = {"return-dead", NCA_WHERE_RETURN};
static const struct nca_verdict forward_dead = {"forward-dead", NCA_WHERE_FORWARD};
static const struct nca_verdict dead = {"dead", NCA_WHERE_PATH};
static const struct nca_verdict peer_stalled = {"peer-stalled", NCA_WHERE_NONE};
static const struct nca_verdict device_fatal = {"device-fatal", NCA_WHERE_LOCAL};
static const struct nca_verdict test_fault = {"test-fault", NCA_WHERE_NONE};
static const struct nca_verdict consequence = {"consequence", NCA_WHERE_NONE};
static const struct nca_verdict mtu_black_hole = {"mtu-black-hole", NCA_WHERE_FORWARD};

static const struct row {
	int rtr, status, large, received, roce, mac, gid; /* what was seen */
	const struct nca_verdict *verdict;
} rows[] = {
	{FAILED, ANY, ANY, ANY, ANY, ANY, 0, &peer_gid_empty},
	{EINVAL, ANY, ANY, ANY, 1, ANY, ANY, &gid_gone},
	{ENODATA, ANY, ANY, ANY, 1, ANY, ANY, &gid_gone},
	{ENETUNREACH, ANY, ANY, ANY, ANY, ANY, ANY, &no_route},
	{ENETDOWN, ANY, ANY, ANY, ANY, ANY, ANY, &no_route},
	{ETIMEDOUT, ANY, ANY, ANY, ANY, ANY, ANY, &peer_silent},
	{FAILED, ANY, ANY, ANY, ANY, ANY, ANY, &not_connected},
	{ANY, FAILED, ANY, ANY, ANY, 0, ANY, &wrong_neighbour},
	{ANY, WC_RETRY_EXC, ANY, 1, ANY, ANY, ANY, &return_dead},
	{ANY, WC_RETRY_EXC, ANY, 0, ANY, ANY, ANY, &forward_dead},
	{ANY, WC_RETRY_EXC, ANY, ANY, ANY, ANY, ANY, &dead},
	{ANY, WC_RNR_RETRY, ANY, ANY, ANY, ANY, ANY, &peer_stalled},
	{ANY, WC_FATAL, ANY, ANY, ANY, ANY, ANY, &device_fatal},
	{ANY, WC_GENERAL, ANY, ANY, ANY, ANY, ANY, &device_fatal},
	{ANY, WC_LOC_PROT, ANY, ANY, ANY, ANY, ANY, &test_fault},
	{ANY, WC_REM_INV_REQ, ANY, ANY, ANY, ANY, ANY, &test_fault},
	{ANY, WC_REM_ACCESS, ANY, ANY, ANY, ANY, ANY, &test_fault},
	{ANY, WC_REM_OP, ANY, ANY, ANY, ANY, ANY, &test_fault},
	{ANY, WC_FLUSH, ANY, ANY, ANY, ANY, ANY, &consequence},
	{ANY, FAILED, ANY, ANY, ANY, ANY, ANY, &dead},
	{ANY, 0, WC_RETRY_EXC, ANY, ANY, ANY, ANY, &mtu_black_hole},
};

static const struct nca_verdict ok = {"ok", NCA_WHERE_NONE};
static const struct nca_verdict unheard = {"unheard", NCA_WHERE_NONE};
static const struct nca_verdict degraded = {"some-paths-dead", NCA_WHERE_PATH};

static bool fits(int want, int have)
{
	return want == ANY || want == have || (want == FAILED && have > 0);
}

/* Of large messages alone only one that gets no answer is news of its own. */
static int status_of(const struct nca_ping *p)
{
	return p->status == 0 && p->large > 0 && p->large != WC_RETRY_EXC ? p->large : p->status;
}

const struct nca_verdict *nca_verdict_find(const struct nca_ping *p)
{
	const struct row *r;

	/* One that is through proves the ends; what the others hit lies between. */
	if (p->rtr_errno == 0 && p->qps > 1 && p->qps_failed > 0 && p->qps_failed < p->qps)
		return &degraded;
	for (r = rows; r < rows + ARRAY_SIZE(rows); r++)
		if (fits(r->rtr, p->rtr_errno) && fits(r->status, status_of(p)) &&
		    fits(r->large, p->large) && fits(r->received, p->received) &&
		    fits(r->roce, p->roce) && fits(r->mac, p->mac_is_peers) &&
		    fits(r->gid, p->peer_has_gid))
			return r->verdict;
	return p->rtr_errno == 0 && p->status == 0 ? &ok : &unheard;
}

/* A cause at an end tells more than a direction, a direction more than the path, and an error more
 * than none. */
static int weight(const struct nca_verdict *v)
{
	switch (v->where) {
	case NCA_WHERE_LOCAL:
	case NCA_WHERE_PEER:
		return 4;
	case NCA_WHERE_FORWARD:
	case NCA_WHERE_RETURN:
		return 3;
	case NCA_WHERE_PATH:
		return 2;
	case NCA_WHERE_NONE:
		break;
	}
	return v != &ok && v != &unheard;
}

static enum nca_where turned(enum nca_where where)
{
	switch (where) {
	case NCA_WHERE_LOCAL:
		return NCA_WHERE_PEER;
	case NCA_WHERE_PEER:
		return NCA_WHERE_LOCAL;
	case NCA_WHERE_FORWARD:
		return NCA_WHERE_RETURN;
	case NCA_WHERE_RETURN:
		return NCA_WHERE_FORWARD;
	default:
		return where;
	}
}

struct nca_verdict nca_verdict_join(const struct nca_ping *a, const struct nca_ping *b)
{
	const struct nca_verdict *of_a = a ? nca_verdict_find(a) : &unheard;
	const struct nca_verdict *of_b = b ? nca_verdict_find(b) : &unheard;
	struct nca_verdict ret = *of_a;

	if (weight(of_b) > weight(of_a) || of_a == &unheard) {
		ret = *of_b;
		ret.where = turned(ret.where);
	}
	return ret;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot without what no rule reads. */
#include <errno.h>

#include <nca/digest.h>
#include <nca/topo.h>

static int add_distances(struct nca_node *node, const struct nca_hca *hca, struct nca_pool *pool)
{
	struct nca_row *row = NCA_APPEND(pool, node->distances);
	size_t i;

	if (!row)
		return -ENOMEM;
	row->values.v = nca_pool_alloc(pool, node->gpus.n * sizeof(*row->values.v));
	if (!row->values.v)
		return -ENOMEM;
	for (i = 0; i < node->gpus.n; i++)
		row->values.v[i] = (char *)nca_level_word(nca_topo_level(node, hca, i));
	row->values.n = node->gpus.n;
	/* Named only now: until then the tree is asked, not the row. */
	row->key = hca->name;
	return 0;
}

/* The one entry that a rule reads: ports of B200 and B300 boards that manage NVLink switches. */
static int add_vpd(struct nca_node *node, struct nca_hca *hca, struct nca_pool *pool)
{
	const char *value = nca_topo_vpd(node, hca, "SMDL");
	struct nca_pair *pair;

	if (hca->vpd.v || !value)
		return 0;
	pair = NCA_APPEND(pool, hca->vpd);
	if (!pair)
		return -ENOMEM;
	*pair = (struct nca_pair){"SMDL", (char *)value};
	return 0;
}

/* They say why a list matches nothing: without a list nobody reads them. */
static void drop_altnames(struct nca_node *node)
{
	struct nca_link *link;

	if (nca_pairs_get(node->environment, "NCCL_SOCKET_IFNAME"))
		return;
	NCA_FOREACH(link, node->interfaces) {
		link->altnames.v = NULL;
		link->altnames.n = 0;
	}
}

int nca_digest_prepare(struct nca_node *node, struct nca_pool *pool)
{
	const struct nca_row *rows = node->distances.v;
	struct nca_hca *hca;
	int rc = 0;

	drop_altnames(node);
	if (!node->pci.v)
		return 0;
	NCA_FOREACH(hca, node->hcas) {
		rc = add_vpd(node, hca, pool);
		/* The rows that are being made must not be read as the node's own. */
		if (!rc && !rows)
			rc = add_distances(node, hca, pool);
		if (rc)
			break;
	}
	return rc;
}

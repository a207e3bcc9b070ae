/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-autoconf agent: one per node and step, started by the plugin in slurmstepd, as the user. */
#include <stdio.h>
#include <sys/mman.h>

#include "commands.h"
#include "exchange.h"
#include "receipt.h"

static struct nca_mailbox *map_mailbox(void)
{
	void *p = mmap(NULL, sizeof(struct nca_mailbox), PROT_READ | PROT_WRITE, MAP_SHARED,
		       NCA_AGENT_MAILBOX_FD, 0);

	close(NCA_AGENT_MAILBOX_FD);
	return p == MAP_FAILED ? NULL : p;
}

static void complain(struct nca_mailbox *box, const struct nca_error *err)
{
	char prefix[2] = {NCA_TASK_SAY, '\0'};
	size_t used = 0;

	nca_record_add(box->out, sizeof(box->out), &used, prefix, err->text);
}

int cmd_agent(int argc, char **argv)
{
	struct nca_mailbox *box = map_mailbox();
	struct nca_agent_input in;
	struct nca_agent a;
	struct nca_error err;
	int receipt = -1;

	(void)argc, (void)argv;
	if (!box)
		return 1;
	if (nca_agent_input_read(box, &in, &err)) {
		complain(box, &err); /* for the watcher to tell the hub */
		return 1;
	}
	nca_exchange_run(&in, &a, box->out, sizeof(box->out));
	if (a.published && in.nodeid == 0)
		receipt = nca_receipt_listen(box->out, sizeof(box->out));
	nca_mailbox_close(box, NCA_MAILBOX_PUBLISHED);
	if (receipt >= 0)
		nca_receipt_take(&a, receipt, &in, box->out, sizeof(box->out));
	if (nca_exchange_stays(&a))
		nca_agent_linger(&a);
	nca_exchange_end(&a);
	if (a.stuck)
		_exit(0);
	free(in.env);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The site's configuration file, where it lies. */
#include <errno.h>

#include <nca/file.h>

#include "commands.h"
#include "conf_file.h"

#define CONF_FILE "/etc/nccl-autoconf.conf"

int nca_conf_read(const char *path, const char *sysroot, struct nca_pool *pool,
		  struct nca_conf *ret, struct nca_error *err)
{
	const char *usual = nca_pool_printf(pool, "%s" CONF_FILE, sysroot ? sysroot : "");
	nca_autofree char *text = NULL;
	char *const *bad;
	size_t len;
	int rc;

	*ret = (struct nca_conf){0};
	if (!usual)
		return nca_fail_memory(err);
	rc = nca_file_read(path ? path : usual, &text, &len, err);
	if (rc && (path || rc != -ENOENT))
		nca_say("warning conf: %s (ignored)", err->text);
	if (rc)
		return 0;
	if (nca_conf_parse(text, path ? path : usual, pool, ret))
		return nca_fail_memory(err);
	NCA_FOREACH(bad, ret->bad)
		nca_say("warning conf: %s", *bad);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Look-ups in the table of trainers. Linked into the plugin: libc only. */
#include <nca/contract.h>
#include <nca/variable.h>

const struct nca_contract *nca_contract_find(const char *name)
{
	size_t i;

	if (!name[0])
		return nca_contracts;
	for (i = 0; i < nca_contract_count; i++)
		if (streq(nca_contracts[i].name, name))
			return &nca_contracts[i];
	return NULL;
}

const struct nca_cell *nca_contract_cell(const struct nca_contract *c, enum nca_layout layout)
{
	if (layout == NCA_LAYOUT_TASK)
		return &c->task;
	return layout == NCA_LAYOUT_NODE ? &c->node : NULL;
}

const struct nca_setting *nca_cell_setting(const struct nca_cell *cell, size_t i)
{
	const struct nca_setting *s;
	size_t k;

	for (k = 0; k < ARRAY_SIZE(cell->settings) && cell->settings[k]; k++)
		for (s = cell->settings[k]; s->name; s++)
			if (i-- == 0)
				return s;
	return NULL;
}

const struct nca_setting *nca_cell_find(const struct nca_cell *cell, const char *name)
{
	const struct nca_setting *s;
	size_t i;

	for (i = 0; (s = nca_cell_setting(cell, i)); i++)
		if (streq(s->name, name))
			break;
	return s;
}

const struct nca_contract *nca_contract_of_program(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < nca_contract_count; i++)
		if (nca_variable_is_listed(name, len, nca_contracts[i].programs))
			return &nca_contracts[i];
	return NULL;
}

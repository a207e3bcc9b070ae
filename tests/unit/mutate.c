/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of a recorded job that must not change the decision. */
#include "mutate.h"

static void reverse(json_t *list)
{
	size_t i, n = json_array_size(list);

	for (i = 0; i < n; i++) {
		json_t *last = json_incref(json_array_get(list, n - 1));

		json_array_remove(list, n - 1);
		json_array_insert_new(list, i, last);
	}
}

void reverse_nodes(json_t *job)
{
	reverse(get(job, "nodes"));
}

void reverse_devices(json_t *job)
{
	json_t *node;

	FOREACH(get(job, "nodes"), node)
	{
		reverse(get(node, "interfaces"));
		reverse(get(node, "hcas"));
		reverse(get(node, "pci"));
	}
}

/* 198.51.100.0/24 is for documentation: no job has it. */
static json_t *link_new(const char *name, const char *kind, const char *addr, int len, int carrier)
{
	return json_pack("{s:s, s:i, s:s, s:i, s:i, s:[s, s], s:[{s:s, s:s, s:i, s:s}]}", "name",
			 name, "ifindex", 900, "kind", kind, "mtu", 1500, "carrier", carrier,
			 "flags", "BROADCAST", "UP", "addresses", "family", "inet", "addr", addr,
			 "prefixlen", len, "scope", "global");
}

/* Of a node without interfaces none was read: one would be the first fact about them. */
static bool is_read(json_t *node)
{
	return json_array_size(get(node, "interfaces")) > 0;
}

void add_down(json_t *job)
{
	json_t *node;
	int i = 1;

	FOREACH(get(job, "nodes"), node)
	{
		char addr[32];

		snprintf(addr, sizeof(addr), "198.51.100.%d", i++);
		if (is_read(node))
			json_array_append_new(get(node, "interfaces"),
					      link_new("down0", "ether", addr, 24, 0));
	}
}

void add_docker(json_t *job)
{
	json_t *node;

	FOREACH(get(job, "nodes"), node)
	{
		if (!is_read(node))
			continue;
		json_array_append_new(get(node, "interfaces"),
				      link_new("docker9", "bridge", "198.51.100.1", 24, 1));
		if (json_array_size(get(node, "routes")))
			json_array_append_new(get(node, "routes"),
					      json_pack("{s:s, s:s, s:s}", "family", "inet", "dst",
							"198.51.100.0/24", "dev", "docker9"));
	}
}

void add_keys_to(json_t *value)
{
	const char *key;
	json_t *item;
	void *next;

	FOREACH(value, item)
	add_keys_to(item);
	if (!json_is_object(value))
		return;
	json_object_foreach_safe(value, next, key, item)
		/* Maps of names: a key more is a fact more. */
		if (!streq(key, "environment") && !streq(key, "sysctl") &&
		    !streq(key, "software") && !streq(key, "distances") && !streq(key, "vpd") &&
		    !streq(key, "counters") && !streq(key, "options")) add_keys_to(item);
	json_object_set_new(value, "no_such_key", json_pack("{s:[i]}", "a", 1));
}

void rename_in(json_t *value, json_t *names)
{
	const char *key;
	json_t *item;
	void *next;
	size_t i;

	for (i = 0; i < json_array_size(value); i++) {
		item = json_array_get(value, i);
		if (json_is_string(item) && get(names, json_string_value(item)))
			json_array_set(value, i, get(names, json_string_value(item)));
		else
			rename_in(item, names);
	}
	if (!json_is_object(value))
		return;
	json_object_foreach_safe(value, next, key, item)
	{
		if (json_is_string(item) && get(names, json_string_value(item)))
			json_object_set(value, key, get(names, json_string_value(item)));
		else
			rename_in(item, names);
	}
}

static void rename_distances(json_t *node)
{
	json_t *old = get(node, "distances"), *new, *row;
	const char *key;
	char name[128];

	if (!json_is_object(old))
		return;
	new = json_object();
	json_object_foreach(old, key, row) {
		snprintf(name, sizeof(name), "q%s", key);
		json_object_set(new, name, row);
	}
	json_object_set_new(node, "distances", new);
}

static void collect_names(json_t *list, json_t *names)
{
	json_t *item;

	FOREACH(list, item)
	{
		const char *name = json_string_value(get(item, "name"));

		/* "lo" is the kernel's. */
		if (!streq(name, "lo"))
			json_object_set_new(names, name, json_sprintf("q%s", name));
	}
}

void rename_devices(json_t *job)
{
	json_t *node;

	FOREACH(get(job, "nodes"), node)
	{
		json_t *names = json_object(), *gone = get(node, "environment");

		collect_names(get(node, "interfaces"), names);
		collect_names(get(node, "hcas"), names);
		/* What somebody set names devices as they were: that is another question. */
		if (gone)
			json_object_del(node, "environment");
		json_object_del(node, "launcher");
		rename_in(node, names);
		rename_distances(node);
		json_decref(names);
	}
}

void forget_environment(json_t *job)
{
	json_t *node;

	FOREACH(get(job, "nodes"), node)
	{
		json_object_del(node, "environment");
		json_object_del(node, "launcher");
	}
}

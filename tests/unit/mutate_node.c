/* SPDX-License-Identifier: Apache-2.0 */
/* A job with a node more that is like one of the others. */
#include "mutate.h"

/* IPv4 in the byte order of the host; false: it is none. */
static bool read_addr(json_t *a, unsigned int *ret)
{
	unsigned int b[4];

	if (sscanf(json_string_value(get(a, "addr")), "%u.%u.%u.%u", &b[0], &b[1], &b[2], &b[3]) !=
	    4)
		return false;
	*ret = b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
	return true;
}

static bool is_in_net(json_t *a, json_t *of)
{
	int len = (int)json_integer_value(get(of, "prefixlen"));
	unsigned int x, y;

	return read_addr(a, &x) && read_addr(of, &y) && (len < 1 || (x ^ y) >> (32 - len) == 0);
}

static bool holds(json_t *node, json_t *net)
{
	json_t *link, *a;

	FOREACH(get(node, "interfaces"), link)
	{
		FOREACH(get(link, "addresses"), a)
		{
			if (is_in_net(a, net))
				return true;
		}
	}
	return false;
}

/* The other nodes of the network: a bit for each. */
static unsigned long find_holders(json_t *nodes, json_t *but, json_t *net)
{
	unsigned long found = 0;
	json_t *node;

	FOREACH(nodes, node)
	{
		if (node != but && holds(node, net))
			found |= 1UL << at_node % 64;
	}
	return found;
}

static size_t count_bits(unsigned long bits)
{
	return (size_t)__builtin_popcountl(bits);
}

/* Do two networks of the node lead to different parts of the others? Then they are cables, which
 * have two ends. */
static bool has_cables(json_t *nodes, json_t *node)
{
	unsigned long part = 0;
	json_t *link, *a;

	FOREACH(get(node, "interfaces"), link)
	{
		FOREACH(get(link, "addresses"), a)
		{
			unsigned long found = find_holders(nodes, node, a);

			if (!found || count_bits(found) == json_array_size(nodes) - 1)
				continue;
			if (part && part != found)
				return true;
			part = found;
		}
	}
	return false;
}

static void print_ip(char text[64], unsigned int ip)
{
	snprintf(text, 64, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
}

static void print_gid(char text[64], unsigned int ip)
{
	snprintf(text, 64, "0000:0000:0000:0000:0000:ffff:%04x:%04x", ip >> 16, ip & 65535);
}

static void add_name(json_t *names, unsigned int was, unsigned int is,
		     void (*print)(char text[64], unsigned int ip))
{
	char from[64], to[64];

	print(from, was);
	print(to, is);
	json_object_set_new(names, from, json_string(to));
}

static bool has_addr(const char *interfaces, unsigned int ip)
{
	char text[64], quoted[80];

	print_ip(text, ip);
	snprintf(quoted, sizeof(quoted), "\"%s\"", text);
	return strstr(interfaces, quoted);
}

/* 10.0.0.7/24 becomes 10.0.0.108 in the new node, and its GIDs with it; an address that others have
 * too (containers' bridges) stays. False where there is no room. */
static bool move_address(json_t *a, const char *others, json_t *names)
{
	const char *addr = json_string_value(get(a, "addr"));
	unsigned int was, is;

	if (!strncmp(addr, "fe80:", 5) || streq(json_string_value(get(a, "scope")), "host"))
		return true;
	if (!read_addr(a, &was) || json_integer_value(get(a, "prefixlen")) > 24)
		return false;
	if (has_addr(others, was))
		return true;
	is = (was & ~255U) | (((was & 255) + 100) % 250 + 1);
	add_name(names, was, is, print_ip);
	add_name(names, was, is, print_gid);
	return !has_addr(others, is);
}

static char *print_interfaces(json_t *nodes, json_t *but)
{
	json_t *node, *all = json_array();
	char *text;

	FOREACH(nodes, node)
	{
		if (node != but)
			json_array_append(all, get(node, "interfaces"));
	}
	text = json_dumps(all, 0);
	json_decref(all);
	return text;
}

/* What the node knows of the other one, NULL: nothing. */
static json_t *find_peer(json_t *node, json_t *other)
{
	json_t *peer;

	FOREACH(get(node, "peers"), peer)
	{
		if (json_equal(get(peer, "name"), get(other, "name")))
			return peer;
	}
	return NULL;
}

/* The names of the step lead to the new node as they do to the one that it is like, which it knows
 * as the others do. */
static void add_peers(json_t *nodes, json_t *like, json_t *new, json_t *names)
{
	json_t *node, *known = NULL;

	FOREACH(nodes, node)
	{
		json_t *peer = find_peer(node, like), *copy = json_deep_copy(peer);

		if (!copy || node == new)
			continue;
		known = peer;
		json_object_set(copy, "name", get(new, "name"));
		rename_in(copy, names);
		json_array_append_new(get(node, "peers"), copy);
	}
	if (known)
		json_array_append(get(new, "peers"), known);
}

bool add_node(json_t *job, size_t like)
{
	json_t *nodes = get(job, "nodes"), *old = json_array_get(nodes, like);
	json_t *node = json_deep_copy(old), *names = json_object(), *link, *a, *host;
	nca_autofree char *others = print_interfaces(nodes, old);
	bool room = json_array_size(nodes) > 1 && !has_cables(nodes, old);

	FOREACH(get(node, "interfaces"), link)
	{
		FOREACH(get(link, "addresses"), a)
		{
			room = room && move_address(a, others, names);
		}
	}
	json_object_set_new(node, "name", json_string("extra9"));
	rename_in(get(node, "interfaces"), names);
	rename_in(get(node, "hcas"), names);
	rename_in(get(node, "routes"), names);
	host = get(names, json_string_value(get(node, "hostname_resolves_to")));
	if (host)
		json_object_set(node, "hostname_resolves_to", host);
	add_peers(nodes, old, node, names);
	json_array_append_new(nodes, node);
	json_decref(names);
	json_object_set_new(job, "nnodes",
			    json_integer(json_integer_value(get(job, "nnodes")) + 1));
	return room;
}

// SPDX-License-Identifier: Apache-2.0
//
// uniqueid LIBNCCL: which address NCCL would meet its peers at.
//
// ncclGetUniqueId opens the bootstrap socket, so it chooses the interface as a
// training does, and needs no GPU for it.  Prints one line each for the version,
// the address in the id and the interface that has it.

#include <arpa/inet.h>
#include <dlfcn.h>
#include <ifaddrs.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

// What nccl.h calls ncclUniqueId.  NCCL keeps a bootstrap handle in it.
union unique_id {
	char bytes[128];
	struct {
		uint64_t magic;
		union {
			struct sockaddr any;
			struct sockaddr_in in;
			struct sockaddr_in6 in6;
		} address;
	} handle;
};

typedef int get_version_fn(int *version);
typedef int get_unique_id_fn(union unique_id *id);

// For what cannot be asked; answers are left to the caller.
static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("uniqueid: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

static void *symbol(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found)
		die("%s", dlerror());
	return found;
}

static void print_version(void *library)
{
	get_version_fn *get_version = symbol(library, "ncclGetVersion");
	int version, result;

	result = get_version(&version);
	if (result != 0)
		die("ncclGetVersion failed with result %d", result);
	printf("version %d.%d.%d\n", version / 10000, version / 100 % 100, version % 100);
}

static const void *address_bytes(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return &((const struct sockaddr_in *)address)->sin_addr;
	return &((const struct sockaddr_in6 *)address)->sin6_addr;
}

static size_t address_size(const struct sockaddr *address)
{
	return address->sa_family == AF_INET ? sizeof(struct in_addr) : sizeof(struct in6_addr);
}

static void print_interface(const struct sockaddr *address)
{
	struct ifaddrs *all;

	if (getifaddrs(&all) != 0)
		die("the interfaces cannot be listed");
	for (struct ifaddrs *one = all; one; one = one->ifa_next) {
		if (one->ifa_addr && one->ifa_addr->sa_family == address->sa_family &&
		    memcmp(address_bytes(one->ifa_addr), address_bytes(address),
			   address_size(address)) == 0)
			printf("interface %s\n", one->ifa_name);
	}
	freeifaddrs(all);
}

static void print_address(void *library)
{
	get_unique_id_fn *get_unique_id = symbol(library, "ncclGetUniqueId");
	char text[INET6_ADDRSTRLEN];
	union unique_id id;
	const struct sockaddr *address = &id.handle.address.any;
	int result;

	memset(&id, 0, sizeof(id));
	result = get_unique_id(&id);
	if (result != 0)
		die("ncclGetUniqueId failed with result %d; NCCL_DEBUG=WARN says why", result);
	if (address->sa_family != AF_INET && address->sa_family != AF_INET6)
		die("no address in the id, but family %d: another layout than the one known",
		    address->sa_family);
	inet_ntop(address->sa_family, address_bytes(address), text, sizeof(text));
	printf("address %s\n", text);
	print_interface(address);
}

int main(int argc, char *argv[])
{
	void *library;

	if (argc != 2) {
		fputs("Usage: uniqueid LIBNCCL\n", stderr);
		return 2;
	}
	library = dlopen(argv[1], RTLD_NOW);
	if (!library)
		die("%s", dlerror());
	print_version(library);
	print_address(library);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <nca/clock.h>
#include <nca/launch.h>

struct row {
	const char *name;
	const char *bytes;
	size_t size;
	size_t records; /* that can be read */
};

static const struct row rows[] = {
	{"no buffer", "", 0, 0},
	{"empty string only", "\0", 1, 0},
	{"one", "a\0", 3, 1},
	{"one without an end behind it", "a\0", 2, 1},
	{"two", "a\0bc\0", 6, 2},
	{"unterminated", "abc", 3, 0},
	{"second unterminated", "a\0bc", 4, 1},
	{"nothing behind the empty one", "a\0\0b\0", 6, 1},
};

static void check_read(void **state)
{
	const struct row *r = *state;
	char *buf = malloc(r->size + !r->size); /* exact, so that a sanitizer sees a step outside */
	size_t pos = 0, n = 0;

	memcpy(buf, r->bytes, r->size);
	while (nca_record_next(buf, r->size, &pos))
		n++;
	assert_int_equal(n, r->records);
	free(buf);
}

static void check_add(void **state)
{
	char buf[8];
	size_t used = 0, pos = 0;

	(void)state;
	assert_int_equal(nca_record_add(buf, sizeof(buf), &used, "a", "=b"), 0);
	assert_int_equal(used, 4);
	/* "cd" and two NUL bytes fit exactly, one more does not */
	assert_int_equal(nca_record_add(buf, sizeof(buf), &used, "", "cde"), -ENOSPC);
	assert_int_equal(used, 4);
	assert_int_equal(nca_record_add(buf, sizeof(buf), &used, "", "cd"), 0);
	assert_string_equal(nca_record_next(buf, sizeof(buf), &pos), "a=b");
	assert_string_equal(nca_record_next(buf, sizeof(buf), &pos), "cd");
	assert_null(nca_record_next(buf, sizeof(buf), &pos));
}

#define NAME63 "a23456789012345678901234567890123456789012345678901234567890123"

struct assignment {
	const char *name;	      /* the record */
	const char *variable, *value; /* NULL: it is none */
};

static const struct assignment assignments[] = {
	{"=A=b", "A", "b"},
	{"<RANK=SLURM_PROCID", "RANK", "SLURM_PROCID"},
	{"=A=", "A", ""},
	{"=A==bond0", "A", "=bond0"},
	{"==b", "", "b"},
	{"=A", NULL, NULL},
	{"=", NULL, NULL},
	{"=" NAME63 "=b", NAME63, "b"},
	{"=" NAME63 "4=b", NULL, NULL},
};

static void check_assignment(void **state)
{
	const struct assignment *r = *state;
	char name[NCA_TASK_NAME_MAX];
	const char *value = nca_task_assignment(r->name, name);

	if (!r->value) {
		assert_null(value);
		return;
	}
	assert_string_equal(value, r->value);
	assert_string_equal(name, r->variable);
}

static struct nca_mailbox *map(void)
{
	return mmap(NULL, sizeof(struct nca_mailbox), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void check_wait_ends(void **state)
{
	struct nca_mailbox *box = map();
	long long start = nca_clock_ms();

	(void)state;
	assert_int_equal(nca_mailbox_wait(box, 20), NCA_MAILBOX_OPEN);
	assert_true(nca_clock_ms() - start >= 20);
	munmap(box, sizeof(*box));
}

static void check_first_close_holds(void **state)
{
	struct nca_mailbox *box = map();

	(void)state;
	nca_mailbox_close(box, NCA_MAILBOX_PUBLISHED);
	nca_mailbox_close(box, NCA_MAILBOX_DIED);
	assert_int_equal(nca_mailbox_wait(box, 0), NCA_MAILBOX_PUBLISHED);
	munmap(box, sizeof(*box));
}

/* Many tasks wait in processes of their own; one close wakes all. */
static void check_wakes_all(void **state)
{
	struct nca_mailbox *box = map();
	pid_t pids[8];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(pids); i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(nca_mailbox_wait(box, 30000) == NCA_MAILBOX_DIED ? 0 : 1);
	}
	nca_mailbox_close(box, NCA_MAILBOX_DIED);
	for (i = 0; i < ARRAY_SIZE(pids); i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	munmap(box, sizeof(*box));
}

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, rows, check_read);
	TABLE_ADD(tests, n, assignments, check_assignment);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_add);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_wait_ends);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_first_close_holds);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(check_wakes_all);
	return _cmocka_run_group_tests("launch", tests, n, NULL, NULL);
}

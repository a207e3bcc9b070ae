/* SPDX-License-Identifier: Apache-2.0 */
/* What a person reads. */
#include <stdarg.h>
#include <stdio.h>
#include <termios.h>

#include "commands.h"

static bool is_raw(int fd)
{
	struct termios t;

	return tcgetattr(fd, &t) == 0 && !(t.c_oflag & OPOST);
}

void nca_say(const char *fmt, ...)
{
	char line[4096];
	va_list ap;
	size_t n;

	n = (size_t)snprintf(line, sizeof(line), "nccl-autoconf: ");
	va_start(ap, fmt);
	vsnprintf(line + n, sizeof(line) - n - 2, fmt, ap);
	va_end(ap);
	n = strlen(line);
	if (is_raw(2))
		line[n++] = '\r';
	line[n++] = '\n';
	/* A terminal or pipe that is gone leaves nobody to tell. */
	if (write(2, line, n) < 0)
		return;
}

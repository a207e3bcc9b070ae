dnl SPDX-License-Identifier: Apache-2.0
dnl NCA_LIB(NAME, PKG-CONFIG MODULE, HEADER, LIBRARY, DEBIAN PACKAGE, RPM PACKAGE)
dnl A library that must be there: below --with-NAME=PREFIX, else as pkg-config finds it. Sets NAME_CFLAGS, NAME_LIBS.
AC_DEFUN([NCA_LIB], [
  AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1=PREFIX], [where $2 is installed])])
  AS_IF([test -n "$with_$1" && test "x$with_$1" != xyes], [
    AS_IF([test "x$with_$1" = xno],
      [AC_MSG_ERROR([$2 cannot be left out])])
    AS_IF([test -e "$with_$1/include/$3"], [],
      [AC_MSG_ERROR([--with-$1=$with_$1: there is no include/$3])])
    $1_CFLAGS="-I$with_$1/include"
    $1_LIBS="-L$with_$1/lib -l$4"
    AC_SUBST([$1_CFLAGS])
    AC_SUBST([$1_LIBS])
  ], [
    PKG_CHECK_MODULES([$1], [$2], [],
      [AC_MSG_ERROR([$2 not found: install $5 (Debian) or $6 (RPM), or give --with-$1=PREFIX])])
  ])
])

/* SPDX-License-Identifier: Apache-2.0 */
/* Which of several networks that join the nodes is taken. */
#include "small_steps.h"

#define IPOIB(last)                                                                                \
	", {'name': 'ib0', 'kind': 'infiniband', 'addresses': [{'family': 'inet', 'addr': "        \
	"'10.1.0." last "', 'prefixlen': 24, 'scope': 'global'}]}"
#define BESIDE_IPOIB(speed)                                                                        \
	JOB(2,                                                                                     \
	    NODE("a", LINK("eth0", "10.0.0.1", ", 'speed_mbps': " speed) IPOIB("1"), "", "",       \
		 "") "," NODE("b", LINK("eth0", "10.0.0.2", ", 'speed_mbps': " speed) IPOIB("2"),  \
			      "", "", ""))
#define RADIO ", 'wireless': true"
#define IWL ", 'driver': 'iwlwifi'"
#define WIRED ", 'wireless': false"
#define FAST ", 'mtu': 9000, 'speed_mbps': 100000"
#define SLOW(last) LINK("eth0", "10.0.0." last, ", 'speed_mbps': 1000")
#define WIDE(last)                                                                                 \
	", {'name': 'eth1', 'kind': 'ether', 'speed_mbps': 40000, 'addresses': [{'family': "       \
	"'inet', 'addr': '10.0.0." last "', 'prefixlen': 16, 'scope': 'global'}]}"
#define NARROW ROUTE("10.0.0.0/24", "eth0") "," ROUTE("10.0.0.0/16", "eth1")

#define PEER(name, addr) ", 'peers': [{'name': '" name "', 'addresses': ['" addr "']}]"

#define VPN(last)                                                                                  \
	", {'name': 'wg0', 'kind': 'tun', 'mtu': 1420, 'addresses': [{'family': 'inet', 'addr': "  \
	"'10.8.0." last "', 'prefixlen': 24, 'scope': 'global'}]}"
/* data0, before eth0 by name, of an HCA that only the plug-in named by NCCL_NET uses. */
#define SIDE(name, last, user)                                                                     \
	NODE(name, LINK("data0", "10.1.0." last, "") "," LINK("eth0", "10.0.0." last, ""), "",     \
	     "{'name': 'm', 'ports': [{'port': 1, 'link_layer': 'Ethernet', 'netdev': 'data0'}]}", \
	     user)
#define PLUGIN(user) JOB(2, SIDE("a", "1", user) "," SIDE("b", "2", user))

static const struct plan plans[] = {
	{"start-up traffic stays off the ports of a plug-in",
	 PLUGIN(USER("'NCCL_NET': 'gIB'")),
	 "choose",
	 "plugin",
	 {"eth0", "eth0"},
	 .hcas = {"", ""}},
	{"with TCP these are as good as others",
	 PLUGIN(USER("'NCCL_NET': 'Socket'")),
	 "choose",
	 "Socket",
	 {"data0", "data0"},
	 .hcas = {"", ""}},
	{"the faster of two",
	 TWO(ETH1("1", ", 'speed_mbps': 100"), ETH1("2", ", 'speed_mbps': 100"), "", "", "", ""),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""}},
	{"an unknown carrier is not down",
	 TWO(ETH1("1", ", 'mtu': 9000"), ETH1("2", ", 'mtu': 9000"), "", "", "", ""),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""}},
	{"a wire before a radio, whatever else speaks for it",
	 JOB(2,
	     NODE("a", LINK("eth0", "10.2.0.1", RADIO) ETH1("1", ", 'speed_mbps': 10000"), "", "",
		  "") "," NODE("b",
			       LINK("eth0", "10.2.0.2", RADIO) ETH1("2", ", 'speed_mbps': 10000"),
			       "", "", "")),
	 "choose",
	 "Socket",
	 {"eth1", "eth1"},
	 .hcas = {"", ""}},
	{"what an overlay does not tell is no matter between wires",
	 JOB(2, NODE("a",
		     LINK("eth0", "10.0.0.1", ", 'speed_mbps': 1000")
			     ETH1("1", ", 'speed_mbps': 100000") VPN("1"),
		     "", "", "")),
	 "choose",
	 "Socket",
	 {"eth1"},
	 .hcas = {""}},
	{"InfiniBand of unknown speed beside 1 Gb/s",
	 BESIDE_IPOIB("1000"),
	 "choose",
	 "Socket",
	 {"ib0", "ib0"},
	 .hcas = {"", ""}},
	{"InfiniBand of unknown speed beside 25 Gb/s",
	 BESIDE_IPOIB("25000"),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""},
	 .warning = "speed-unknown"},
	{"a speed is known, so nobody can say that none was looked up",
	 JOB(2,
	     NODE("a", LINK("eth0", "10.0.0.1", "") ETH1("1", ", 'speed_mbps': 10000"),
		  HOP("eth0") "," ROUTE("10.1.0.0/24", "eth1"), "",
		  "") "," NODE("b", LINK("eth0", "10.0.0.2", "") ETH1("2", ", 'speed_mbps': 10000"),
			       HOP("eth0") "," ROUTE("10.1.0.0/24", "eth1"), "", "")),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""},
	 .warning = "speed-unknown"},
	{"its driver tells a radio too",
	 JOB(2, NODE("a", LINK("eth0", "10.2.0.1", IWL) ETH1("1", ""), "", "",
		     "") "," NODE("b", LINK("eth0", "10.2.0.2", IWL) ETH1("2", ""), "", "", "")),
	 "choose",
	 "Socket",
	 {"eth1", "eth1"},
	 .hcas = {"", ""}},
	{"its name does not",
	 JOB(2, NODE("a", LINK("wl0", "10.2.0.1", "") "," LINK("x0", "10.1.0.1", ""), "", "",
		     "") "," NODE("b", LINK("wl0", "10.2.0.2", "") "," LINK("x0", "10.1.0.2", ""),
				  "", "", "")),
	 "choose",
	 "Socket",
	 {"wl0", "wl0"},
	 .hcas = {"", ""}},
	{"what the kernel says of it stands before its driver",
	 JOB(2, NODE("a", LINK("eth0", "10.2.0.1", IWL WIRED) ETH1("1", ""), "", "", "") "," NODE(
			"b", LINK("eth0", "10.2.0.2", IWL WIRED) ETH1("2", ""), "", "", "")),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""}},
	{"a radio that alone joins the nodes",
	 JOB(2,
	     NODE("a", LINK("wlp3s0", "10.2.0.1", "") ETH1("1", ""), ROUTE("10.2.0.0/24", "wlp3s0"),
		  "", "") "," NODE("b", LINK("wlan0", "10.2.0.2", ""),
				   ROUTE("10.2.0.0/24", "wlan0"), "", "")),
	 "choose",
	 "Socket",
	 {"wlp3s0", "wlan0"},
	 .hcas = {"", ""}},
	{"the prefix of a slow port lies in that of a fast one",
	 JOB(2, NODE("a", SLOW("1") WIDE("101"), NARROW, "",
		     "") "," NODE("b", SLOW("2") WIDE("102"), NARROW, "", "")),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""},
	 .warning = "shared-prefix",
	 .says = "eth1 is faster than eth0"},
	{"no carrier",
	 JOB(2, NODE("a", LINK("eth0", "10.0.0.1", ", 'carrier': 0") ETH1("1", ""), "", "",
		     "") "," NODE("b", LINK("eth1", "10.1.0.2", ""), "", "", "")),
	 "choose",
	 "Socket",
	 {"eth1", "eth1"},
	 .hcas = {"", ""}},
	{"names before what a tunnel takes off a frame",
	 JOB(2, NODE("a", LINK("eth0", "10.0.0.1", ", 'mtu': 1450") ETH1("1", ", 'mtu': 1500"), "",
		     "", PEER("b", "10.0.0.2")) "," NODE("b",
							 LINK("eth0", "10.0.0.2", ", 'mtu': 1450")
								 ETH1("2", ", 'mtu': 1500"),
							 "", "", PEER("a", "10.0.0.1"))),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""},
	 .warning = "speed-unknown"},
	{"jumbo frames before names",
	 JOB(2, NODE("a", LINK("eth0", "10.0.0.1", ", 'mtu': 1500") ETH1("1", ", 'mtu': 9000"), "",
		     "", PEER("b", "10.0.0.2")) "," NODE("b",
							 LINK("eth0", "10.0.0.2", ", 'mtu': 1500")
								 ETH1("2", ", 'mtu': 9000"),
							 "", "", PEER("a", "10.0.0.1"))),
	 "choose",
	 "Socket",
	 {"eth1", "eth1"},
	 .hcas = {"", ""}},
	{"no carrier is known, but the state",
	 TWO(ETH1("1", FAST ", 'operstate': 'down'"), ETH1("2", FAST), "", "", "", ""),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""}},
	{"no carrier is known, but flags",
	 TWO(ETH1("1", FAST ", 'flags': ['UP', 'MULTICAST']"), ETH1("2", FAST), "", "", "", ""),
	 "choose",
	 "Socket",
	 {"eth0", "eth0"},
	 .hcas = {"", ""}},
	{"flags as ip shows them, and as ifconfig does",
	 JOB(2, NODE("a", SLOW("1") ETH1("1", FAST ", 'flags': ['UP', 'LOWER_UP']"), "", "",
		     "") "," NODE("b", SLOW("2") ETH1("2", FAST ", 'flags': ['UP', 'RUNNING']"), "",
				  "", "")),
	 "choose",
	 "Socket",
	 {"eth1", "eth1"},
	 .hcas = {"", ""}},
};

int main(void)
{
	struct CMUnitTest tests[TABLE_MAX];
	size_t n = 0;

	TABLE_ADD(tests, n, plans, check_plan);
	return _cmocka_run_group_tests("plan_speeds", tests, n, NULL, NULL);
}

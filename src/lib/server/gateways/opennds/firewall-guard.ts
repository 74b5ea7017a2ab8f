import { isIPv4 } from 'node:net';
import type { PortalAddress } from '../config-text.ts';
import type { ConfigPart } from '../gateway.ts';

/**
 * Returns firewall rules that follow those of openNDS. The router forwards only packets that openNDS has
 * marked (fw_mark_authenticated, fw_mark_trusted), even if openNDS does not run. openNDS 9 and 10 control
 * only IPv4 (openNDS issues 408 and 625): with IPv6 every device would be online unpaid.
 */
export function guards(lan: string, portal: PortalAddress): ConfigPart[] {
	const port = portal.port || (portal.protocol === 'https:' ? '443' : '80');
	const portalRule = isIPv4(portal.hostname)
		? [`\tip daddr ${portal.hostname} tcp dport ${port} accept`]
		: // A name that is not known would keep the whole guard from loading, and the router open.
			[`\t# ip daddr IP-OF-${portal.hostname} tcp dport ${port} accept`];
	return [
		{
			title: 'Guard for openNDS 9: run at the start of the machine, before openNDS',
			file: '/etc/opennds/airtill-guard.sh',
			text: [
				'#!/bin/sh',
				'# openNDS inserts its chains before this rule, and accepts authenticated devices there.',
				`iptables -C FORWARD -i ${lan} -j REJECT 2>/dev/null || iptables -A FORWARD -i ${lan} -j REJECT`,
				'guarded=$?',
				'# openNDS 9 does not control IPv6: reject it. If ip6tables does not work, disable IPv6 on this interface.',
				'if [ -e /proc/net/if_inet6 ]; then',
				`\tip6tables -C FORWARD -i ${lan} -j REJECT 2>/dev/null || ip6tables -I FORWARD -i ${lan} -j REJECT ||`,
				`\t\techo 1 >/proc/sys/net/ipv6/conf/${lan}/disable_ipv6`,
				'fi',
				'exit $guarded',
				''
			].join('\n')
		},
		{
			title: 'Guard for openNDS 10 and newer',
			file: '/etc/nftables.d/airtill-guard.nft',
			// A chain without a table: OpenWrt's fw4 reads these files inside its own table inet fw4.
			// It creates the table at each start, and keeps the files over a system upgrade.
			text: [
				'# Read by OpenWrt inside "table inet fw4": fw4 check && fw4 reload',
				'# IPv6 bears no mark of openNDS 10, and is rejected.',
				'chain airtill_guard {',
				'\ttype filter hook forward priority filter + 10; policy accept;',
				`\tiifname != "${lan}" accept`,
				'\tmeta mark & 0x30000 == 0x30000 accept',
				'\tmeta mark & 0x30000 == 0x20000 accept',
				...portalRule,
				'\treject',
				'}',
				''
			].join('\n')
		}
	];
}

import { type ConfigContext, type ConfigPart, type GatewayFacts, UNKNOWN } from './gateway.ts';

/**
 * FreeRADIUS 3.2 (Debian 12's 3.2.1 and later) for one gateway.
 *
 * Parts: an instance of rlm_rest that asks us, and a virtual server for the gateway's own client.
 * Quoting: names, key and secrets have only letters, digits, hyphens and underscores (gateways/settings.ts).
 * FreeRADIUS expands nothing in them. Values of a request are quoted.
 */

const ROOT = '/etc/freeradius/3.0';
/** Our answer takes milliseconds. After this time the gateway asks again. */
const TIMEOUT_SECONDS = '2.0';

/** JSON field names, with FreeRADIUS expressions for their values. */
const LOGIN = { user: '%{User-Name}', mac: '%{Calling-Station-Id}' };
/** Some access points send the MAC address only as the username. */
const LOGIN_BY_ADDRESS = { ...LOGIN, mac: '%{%{Calling-Station-Id}:-%{User-Name}}' };
const REPORT = {
	status: '%{integer:Acct-Status-Type}',
	session: '%{Acct-Session-Id}',
	ip: '%{Framed-IP-Address}',
	nas_address: '%{%{NAS-IP-Address}:-%{Packet-Src-IP-Address}}',
	nas_identifier: '%{NAS-Identifier}',
	class: '%{Class}',
	at: '%{integer:Event-Timestamp}',
	delay: '%{integer:Acct-Delay-Time}',
	lasted: '%{integer:Acct-Session-Time}',
	in: '%{integer:Acct-Input-Octets}',
	in_gigawords: '%{integer:Acct-Input-Gigawords}',
	out: '%{integer:Acct-Output-Octets}',
	out_gigawords: '%{integer:Acct-Output-Gigawords}',
	cause: '%{Acct-Terminate-Cause}'
};

const json = (fields: Readonly<Record<string, string>>) =>
	`{${Object.entries(fields)
		.map(([name, value]) => `"${name}":"%{jsonquote:${value}}"`)
		.join(',')}}`;

const indented = (text: string, depth: number) =>
	text
		.split('\n')
		.map((line) => (line === '' ? '' : '\t'.repeat(depth) + line))
		.join('\n');

export function freeRadius(facts: GatewayFacts, context: ConfigContext): ConfigPart[] {
	// Gateway names cannot contain the underscore of a suffix: `lobby_inner` and `lobby-inner` do not collide.
	const name = `airtill-${context.gateway.name}`;
	const hasEap = context.router.accessKind === 'wpa_enterprise';
	return [
		{
			title: 'FreeRADIUS: packages',
			file: null,
			text: [
				'On the machine of the RADIUS server (Debian 12 or later), as root:',
				'',
				'	apt-get install freeradius freeradius-rest',
				'',
				`Save the next two parts as ${ROOT}/mods-enabled/${name} and ${ROOT}/sites-enabled/${name},`,
				'with the owner freerad and the mode 640: they contain secrets. Keep the site "default": it listens on the ports',
				`1812 and 1813. Then run freeradius -XC (it must end with "Configuration appears to be OK"), and`,
				'systemctl restart freeradius.',
				'',
				'FreeRADIUS signs its answers (Message-Authenticator), as newer RouterOS and hostapd require. But only the RADIUS',
				'secret protects the passwords of a hotspot, and FreeRADIUS before 3.2.5 (Debian 12) does not require signed',
				'requests (BlastRADIUS, CVE-2024-3596). Connect gateway and RADIUS server on one machine, in a separate network',
				'or through WireGuard; never over the internet.'
			].join('\n')
		},
		{
			title: 'FreeRADIUS: module',
			file: `${ROOT}/mods-enabled/${name}`,
			text: moduleText(name, context, hasEap)
		},
		{
			title: 'FreeRADIUS: client and site',
			file: `${ROOT}/sites-enabled/${name}`,
			text: siteText(name, facts, hasEap)
		}
	];
}

function moduleText(name: string, { apiOrigin, gateway, router }: ConfigContext, hasEap: boolean): string {
	const login = router.accessKind === 'wpa_personal_per_client' ? LOGIN_BY_ADDRESS : LOGIN;
	const call = (section: string, fields: Readonly<Record<string, string>>) => `
	${section} {
		uri = "\${..connect_uri}/radius/${gateway.key}/${section}"
		method = 'post'
		body = 'json'
		data = '${json(fields)}'
		timeout = ${TIMEOUT_SECONDS}
		tls = \${..tls}
	}`;
	const tls = apiOrigin.startsWith('https:') ? '\n\t\tca_file = /etc/ssl/certs/ca-certificates.crt' : '';
	const rest = `# Asks Airtill about the devices at the gateway "${gateway.name}".
rest ${name} {
	tls {${tls}
	}
	connect_uri = "${apiOrigin}"
	connect_timeout = ${TIMEOUT_SECONDS}
${[call('authorize', login), call('post-auth', login), call('accounting', { ...login, ...REPORT })].join('\n')}

	pool {
		# Lets the server start while Airtill is down, and reconnects automatically.
		start = 0
		min = 0
		max = \${thread[pool].max_servers}
		spare = \${thread[pool].max_spare_servers}
		uses = 0
		retry_delay = 1
		lifetime = 0
		idle_timeout = 60
	}
}
`;
	return hasEap ? `${rest}\n${eapText(name)}` : rest;
}

/** Leaves out TLS 1.3: FreeRADIUS 3.2.1 does not finish EAP over it with all clients. */
const eapText = (name: string) => `# WPA Enterprise. Replace Debian's self-signed certificate with your own
# (for a name that devices can check; usage: server authentication).
eap ${name}_eap {
	default_eap_type = peap
	timer_expire = 60
	ignore_unknown_eap_types = no
	max_sessions = \${max_requests}

	tls-config tls-common {
		private_key_file = /etc/ssl/private/ssl-cert-snakeoil.key
		certificate_file = /etc/ssl/certs/ssl-cert-snakeoil.pem
		cipher_list = "DEFAULT"
		tls_min_version = "1.2"
		tls_max_version = "1.2"
		ecdh_curve = ""
	}
${tunnel('ttls', name)}
${tunnel('peap', name)}
	mschapv2 {
	}
}
`;

const tunnel = (method: string, name: string) => `	${method} {
		tls = tls-common
		default_eap_type = mschapv2
		copy_request_to_tunnel = no
		use_tunneled_reply = no
		virtual_server = "${name}_inner"
	}`;

const authType = (type: string, module: string) => `		Auth-Type ${type} {
			${module}
		}`;

function siteText(name: string, { settings, credentials }: GatewayFacts, hasEap: boolean): string {
	const ask = `update control {
	&REST-HTTP-Header := "Authorization: Bearer ${credentials.token ?? ''}"
}
${name}`;
	const orEap = (withEap: string, without: string) =>
		indented(hasEap ? unlessEap(withEap, without) : without, 2);
	const address = settings.nas ?? UNKNOWN.gateway;
	const client = `client ${name} {
	${address.includes(':') ? 'ipv6addr' : 'ipaddr'} = ${address}
	secret = ${credentials.radiusSecret ?? ''}
	shortname = ${name}
	virtual_server = ${name}
	# With FreeRADIUS 3.2.5 and later use "yes" if the gateway signs its requests (BlastRADIUS).
	require_message_authenticator = no
}`;
	return `# The gateway "${name}". Written by "airtill gateways config"; contains secrets.
${settings.nas === undefined ? withoutAddress(client) : client}

server ${name} {
	authorize {
${orEap(`${name}_eap {\n\tok = return\n}`, `${ask}\nchap\nmschap\npap`)}
	}

	authenticate {
${authType('PAP', 'pap')}
${authType('CHAP', 'chap')}
${authType('MS-CHAP', 'mschap')}
		# The name that other sites use.
		mschap${hasEap ? `\n\t\t${name}_eap` : ''}
	}

	preacct {
		ok
	}

	accounting {
${indented(ask, 2)}
	}

	# The password was right. Airtill can still refuse the device, for example if the pass has no free device slot.
	post-auth {
${orEap(EAP_REPLY, `${ask}\n${SIGNED}`)}
		Post-Auth-Type REJECT {
			attr_filter.access_reject${hasEap ? `\n\t\t\t${name}_eap` : ''}
${indented(SIGNED, 3)}
		}
	}
}
${hasEap ? innerText(name, ask) : ''}`;
}

/**
 * FreeRADIUS signs all answers to EAP; before 3.2.5 it signs others only on request. RouterOS 7.15 and later
 * drops unsigned answers. So does hostapd with radius_require_message_authenticator.
 */
const SIGNED = `# Filled in when the answer is sent.
update reply {
	&Message-Authenticator := 0x00
}`;

/** FreeRADIUS does not start if two gateways have the same placeholder address. */
const withoutAddress = (client: string) =>
	[
		'# NOT ACTIVE YET: the address of this gateway is unknown. Register the gateway again with --nas ADDRESS (then a pass',
		`# that is ended early ends at once, too). Or replace ${UNKNOWN.gateway} with it, and remove`,
		'# the "#" from the lines of this client. No other client may have the same address.',
		...client.split('\n').map((line) => `#${line}`)
	].join('\n');

const unlessEap = (withEap: string, without: string) =>
	`if (&EAP-Message) {\n${indented(withEap, 1)}\n}\nelse {\n${indented(without, 1)}\n}`;

/** Removes the outer username, which may be "anonymous", because a reply has only one. */
const EAP_REPLY = `update reply {
	&User-Name !* ANY
}
update {
	&reply: += &session-state:
}`;

/** The inner reply reaches the outer server through the session state. */
const innerText = (name: string, ask: string) => `
server ${name}_inner {
	authorize {
		update request {
			&Calling-Station-Id := &outer.request:Calling-Station-Id
		}
		${name}_eap {
			ok = return
		}
${indented(ask, 2)}
		mschap
		pap
	}

	authenticate {
${authType('PAP', 'pap')}
${authType('MS-CHAP', 'mschap')}
		mschap
		${name}_eap
	}

	post-auth {
${indented(ask, 2)}
		update outer.session-state {
			&User-Name := &request:User-Name
			&Session-Timeout := &reply:Session-Timeout
			&Acct-Interim-Interval := &reply:Acct-Interim-Interval
			&Class := &reply:Class
		}
		Post-Auth-Type REJECT {
			attr_filter.access_reject
			update outer.session-state {
				&Module-Failure-Message := &request:Module-Failure-Message
			}
		}
	}
}
`;

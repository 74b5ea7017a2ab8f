import { UNKNOWN, type ConfigPart, type ConfigSite, type GatewayFacts } from '../gateways/gateway.ts';

/**
 * Configuration of FreeRADIUS 3.2 (Debian 12's 3.2.1 and later) for one gateway: an instance of rlm_rest that asks us,
 * and a virtual server for the gateway's own client. Names, key and secrets are letters, digits, hyphens and
 * underscores (rules.ts), so nothing in it is expanded that should not be; what comes with a request is quoted.
 */

const ROOT = '/etc/freeradius/3.0';
/** Our answer takes milliseconds; what is longer is no answer, and the gateway asks again. */
const TIMEOUT_SECONDS = '2.0';

/** Calls of rlm_rest for which FreeRADIUS has attributes: name in the JSON, and what is put there. */
const LOGIN = { user: '%{User-Name}', mac: '%{Calling-Station-Id}' };
/** An access point that asks by the address of a device may say it as the user name alone. */
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

/** The parts for a gateway that asks RADIUS. */
export function freeRadius(facts: GatewayFacts, site: ConfigSite): ConfigPart[] {
	// What is added to it begins with an underscore, which no gateway's name holds: `lobby` and `lobby-inner` stay apart.
	const name = `airtill-${site.gateway.name}`;
	const hasEap = site.router === null || site.router.accessKind === 'wpa_enterprise';
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
				'with the owner freerad and the mode 640: they hold secrets. The site "default" stays: it listens on the ports',
				`1812 and 1813. Then: freeradius -XC (which must end with "Configuration appears to be OK"), and`,
				'systemctl restart freeradius.',
				'',
				'Its answers are signed (Message-Authenticator), which newer RouterOS and hostapd insist on. But the passwords',
				'of a hotspot travel in RADIUS packets that are protected by their secret alone, and FreeRADIUS before 3.2.5',
				'(Debian 12) does not ask for signed requests (BlastRADIUS, CVE-2024-3596): let gateway and RADIUS server talk',
				'on one machine, in a network of their own, or through WireGuard; never over the internet.'
			].join('\n')
		},
		{
			title: 'FreeRADIUS: module',
			file: `${ROOT}/mods-enabled/${name}`,
			text: moduleText(name, site, hasEap)
		},
		{
			title: 'FreeRADIUS: client and site',
			file: `${ROOT}/sites-enabled/${name}`,
			text: siteText(name, facts, hasEap)
		}
	];
}

function moduleText(name: string, { apiOrigin, gateway, router }: ConfigSite, hasEap: boolean): string {
	const login = router?.accessKind === 'wpa_personal_per_client' ? LOGIN_BY_ADDRESS : LOGIN;
	const call = (section: string, path: string, fields: Readonly<Record<string, string>>) => `
	${section} {
		uri = "\${..connect_uri}/radius/${gateway.key}/${path}"
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
${[
	call('authorize', 'authorize', login),
	call('post-auth', 'post-auth', login),
	call('accounting', 'accounting', { ...login, ...REPORT })
].join('\n')}

	pool {
		# So that the server starts while Airtill is down, and finds it again by itself.
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

/** PEAP, and TTLS; TLS 1.3 is left out, because 3.2.1 does not finish EAP over it with all clients. */
const eapText = (
	name: string
) => `# The sign-in of the Wi-Fi itself. Put a certificate of your own in place of Debian's stand-in
# (a name under which devices know the server; usage: server authentication).
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
	ttls {
		tls = tls-common
		default_eap_type = mschapv2
		copy_request_to_tunnel = no
		use_tunneled_reply = no
		virtual_server = "${name}_inner"
	}
	peap {
		tls = tls-common
		default_eap_type = mschapv2
		copy_request_to_tunnel = no
		use_tunneled_reply = no
		virtual_server = "${name}_inner"
	}
	mschapv2 {
	}
}
`;

function siteText(name: string, { settings, credentials }: GatewayFacts, hasEap: boolean): string {
	const ask = `update control {
	&REST-HTTP-Header := "Authorization: Bearer ${credentials.token ?? ''}"
}
${name}`;
	const address = settings.nas ?? UNKNOWN.gateway;
	const client = `client ${name} {
	${address.includes(':') ? 'ipv6addr' : 'ipaddr'} = ${address}
	secret = ${credentials.radiusSecret ?? ''}
	shortname = ${name}
	virtual_server = ${name}
	# FreeRADIUS 3.2.5 and later: "yes", if the gateway signs its requests (BlastRADIUS).
	require_message_authenticator = no
}`;
	return `# The gateway "${name}". Written by "airtill gateways config"; holds secrets.
${settings.nas === undefined ? withoutAddress(client) : client}

server ${name} {
	authorize {
${indented(hasEap ? unlessEap(`${name}_eap {\n\tok = return\n}`, `${ask}\nchap\nmschap\npap`) : `${ask}\nchap\nmschap\npap`, 2)}
	}

	authenticate {
		Auth-Type PAP {
			pap
		}
		Auth-Type CHAP {
			chap
		}
		Auth-Type MS-CHAP {
			mschap
		}
		# Its name where another site uses that.
		mschap${hasEap ? `\n\t\t${name}_eap` : ''}
	}

	preacct {
		ok
	}

	accounting {
${indented(ask, 2)}
	}

	# The password was right. A no to that (another device has the place) is a no to the device.
	post-auth {
${indented(hasEap ? unlessEap(EAP_REPLY, `${ask}\n${SIGNED}`) : `${ask}\n${SIGNED}`, 2)}
		Post-Auth-Type REJECT {
			attr_filter.access_reject${hasEap ? `\n\t\t\t${name}_eap` : ''}
${indented(SIGNED, 3)}
		}
	}
}
${hasEap ? innerText(name, ask) : ''}`;
}

/**
 * An answer to EAP is signed anyway; of the others FreeRADIUS before 3.2.5 signs only those that are asked for. RouterOS
 * 7.15 and later, and hostapd with radius_require_message_authenticator, drop what is not signed.
 */
const SIGNED = `# Filled in when the answer is sent.
update reply {
	&Message-Authenticator := 0x00
}`;

/** A made-up address would be a client that nobody is; two gateways with it would keep FreeRADIUS from starting. */
const withoutAddress = (client: string) =>
	[
		'# NOBODY IS ANSWERED YET: the address from which this gateway asks is not known. Register the gateway again with',
		'# --nas ADDRESS (then a pass that is ended ends at once, too), or put it in place of ' +
			`${UNKNOWN.gateway} and take`,
		'# the "#" from the lines of this client. No other client may have the same address.',
		...client.split('\n').map((line) => `#${line}`)
	].join('\n');

const unlessEap = (withEap: string, without: string) =>
	`if (&EAP-Message) {\n${indented(withEap, 1)}\n}\nelse {\n${indented(without, 1)}\n}`;

/** What was learnt inside the tunnel. An answer has one user name: the outer one, which may be "anonymous", gives way. */
const EAP_REPLY = `update reply {
	&User-Name !* ANY
}
update {
	&reply: += &session-state:
}`;

/** Inside the tunnel: what the answer holds reaches the outer one by way of its session state. */
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
		Auth-Type PAP {
			pap
		}
		Auth-Type MS-CHAP {
			mschap
		}
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

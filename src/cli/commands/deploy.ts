import path from 'node:path';
import process from 'node:process';
import type { Config } from '#lib/server/config/config.ts';
import { root } from '../bootstrap.js';
import { defineCommand } from '../support/command.ts';
import { UsageError } from '../support/errors.ts';
import { print } from '../support/output.ts';

/** For an installation without ORIGIN. */
const EXAMPLE_ORIGIN = 'https://wifi.example.org';
/** Addresses with passwords or keys: TLS only. */
const SIGNED_IN = '/(?:[a-z]{2}/)?(?:owner|developer|admin|v1|docs/api|metrics)(?:/|$)';

export const deploy = defineCommand({
	name: 'deploy',
	args: ['systemd|nginx|caddy'],
	summary: 'Print a systemd unit, or the configuration of a proxy with TLS.',
	help: 'Uses the settings of this installation, such as ORIGIN, PORT and DATA_DIR. Each begins with its own instructions.',
	async run({ args: [name], config: read }) {
		const template = TEMPLATES.get(name);
		if (!template) throw new UsageError(`The argument is systemd, nginx or caddy, not "${name}".`);
		const config = read();
		if (template !== systemd && config.origin === null) {
			console.error(`ORIGIN is not set: replace ${EXAMPLE_ORIGIN} with your address.`);
		}
		await print(template(config));
	}
});

const TEMPLATES = new Map(Object.entries({ systemd, nginx, caddy }));

/** systemd.exec(5): % begins a specifier. */
const unitPath = (file: string) => path.resolve(root, file).replaceAll('%', '%%');
const quoted = (file: string) => `"${unitPath(file)}"`;

function systemd({ databaseUrl, dataDir, port }: Config): string {
	const isSqlite = databaseUrl.startsWith('file:');
	const folders = [dataDir, ...(isSqlite ? [path.dirname(databaseUrl.slice('file:'.length))] : [])];
	const capability = port > 0 && port < 1024 ? 'CAP_NET_BIND_SERVICE' : '';
	const folder = unitPath('.');
	const isInHome = [root, process.execPath, ...folders].some((file) =>
		/^\/(home|root)\//.test(path.resolve(root, file) + path.sep)
	);
	return `# /etc/systemd/system/airtill.service
# useradd --system --home-dir ${folder} --shell /usr/sbin/nologin airtill
# chown -R airtill: ${[...new Set(folders.map(unitPath)), unitPath('airtill.env')].join(' ')}   (create them first)
# systemctl daemon-reload && systemctl enable --now airtill

[Unit]
Description=Airtill
# Paid time is counted by the clock: sell after it is set (systemctl enable systemd-time-wait-sync).
Wants=network-online.target time-sync.target
After=network-online.target time-sync.target${isSqlite ? '' : ' postgresql.service'}

[Service]
User=airtill
WorkingDirectory=${folder}
EnvironmentFile=${unitPath('airtill.env')}
# Fewer heaps of the C library (mallopt(3)): 10 to 20 MB less after an hour.
Environment=MALLOC_ARENA_MAX=2
ExecStart=${quoted(process.execPath)} --max-semi-space-size=2 --heap-growing-percent=30 src/server.js
Restart=always
RestartSec=2
# More than a stop takes, also with DRAIN_SECONDS.
TimeoutStopSec=30
LimitNOFILE=65536

# MemoryDenyWriteExecute is not set: V8 writes machine code.
ReadWritePaths=${[...new Set(folders.map(quoted))].join(' ')}
ProtectSystem=strict
ProtectHome=${isInHome ? 'read-only' : 'true'}
PrivateTmp=true
PrivateDevices=true
ProtectClock=true
ProtectControlGroups=true
ProtectHostname=true
ProtectKernelLogs=true
ProtectKernelModules=true
ProtectKernelTunables=true
ProtectProc=invisible
NoNewPrivileges=true
AmbientCapabilities=${capability}
CapabilityBoundingSet=${capability}
LockPersonality=true
RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK AF_UNIX
RestrictNamespaces=true
RestrictRealtime=true
RestrictSUIDSGID=true
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
UMask=0077

[Install]
WantedBy=multi-user.target`;
}

/** Returns the public address and, at the head of a configuration, its settings and notes. */
function site({ origin, port }: Config) {
	const url = new URL(origin ?? EXAMPLE_ORIGIN);
	return {
		url,
		isTls: url.protocol === 'https:',
		airtill: `127.0.0.1:${port}`,
		notes: `# Airtill needs these settings in airtill.env:
#   HOST=127.0.0.1
#   ORIGIN=${url.origin}
#   ADDRESS_HEADER=X-Forwarded-For   (with XFF_DEPTH=1 for this proxy alone)
#   KEEP_ALIVE_TIMEOUT=75            (longer than the 60 seconds below, or requests fail at random)
# In a container they belong in .env, without HOST: its port is published on 127.0.0.1.
#
# Buyers need plain http: gateways redirect phones by it, and a phone behind a captive portal may have a wrong
# clock or old certificates. Only addresses with passwords or keys require TLS.
# Use a complete chain of certificates: a phone that is not online yet cannot fetch a missing one.`
	};
}

function nginx(config: Config): string {
	const { url, isTls, airtill, notes } = site(config);
	const listen = (port: string, tls = '') => `	listen ${port}${tls};\n	listen [::]:${port}${tls};`;
	const tls = `
${listen(url.port || '443', ' ssl')}
	ssl_certificate /etc/letsencrypt/live/${url.hostname}/fullchain.pem;
	ssl_certificate_key /etc/letsencrypt/live/${url.hostname}/privkey.pem;
	ssl_protocols TLSv1.2 TLSv1.3;
	ssl_session_cache shared:airtill_tls:10m;
	if ($airtill_requires_tls) {
		return 308 ${url.origin}$request_uri;
	}
`;
	const rule = `map $scheme:$uri $airtill_requires_tls {
	default 0;
	"~^http:${SIGNED_IN}" 1;
}
`;
	return `# /etc/nginx/conf.d/airtill.conf, then: nginx -t && systemctl reload nginx
${notes}

${isTls ? rule : ''}limit_conn_zone $binary_remote_addr zone=airtill:10m;
upstream airtill {
	server ${airtill};
	keepalive 64;
	keepalive_timeout 60s;
}
server {
	server_name ${url.hostname};
${listen(isTls ? '80' : url.port || '80')}${isTls ? tls : '\n'}
	# Logos. Airtill has its own limits for everything else.
	client_max_body_size 6m;
	client_header_timeout 10s;
	# All phones of a venue share one address: limit connections, never requests.
	limit_conn airtill 1000;
	# Their lines would contain addresses that open purchases (/s/…). Airtill has its own log.
	access_log off;
	error_log /var/log/nginx/error.log crit;

	location / {
		proxy_pass http://airtill;
		proxy_http_version 1.1;
		proxy_set_header Connection '';
		proxy_set_header Host $http_host;
		proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
		proxy_set_header X-Forwarded-Proto $scheme;
		proxy_connect_timeout 5s;
	}
	location /.well-known/acme-challenge/ {
		root /var/www/html;
	}
}`;
}

function caddy(config: Config): string {
	const { url, isTls, airtill, notes } = site(config);
	const tls = `
	@airtill_requires_tls {
		protocol http
		path_regexp ^${SIGNED_IN}
	}
	redir @airtill_requires_tls ${url.origin}{uri} 308
`;
	return `# /etc/caddy/Caddyfile, then: caddy validate --config /etc/caddy/Caddyfile && systemctl reload caddy
${notes}
{
	# Its lines would contain addresses that open purchases (/s/…). Airtill has its own log.
	log {
		exclude http.log.error http.handlers.reverse_proxy
	}
	servers {
		timeouts {
			read_header 10s
		}
	}
}

${isTls ? `http://${url.hostname}, ` : ''}${url.origin} {
${isTls ? tls.slice(1) : ''}	request_body {
		max_size 6MB
	}
	reverse_proxy ${airtill} {
		# A request during a restart waits.
		lb_try_duration 15s
		transport http {
			keepalive 60s
		}
	}
}`;
}

/** Registers a gateway by the command line, as an operator does, and reads what it prints. */
import type { ConfigPart } from '#lib/server/gateways/gateway.ts';
import type { Kind } from '../../simulators/gateway/gateway.ts';
import type { AccessKind } from '#lib/domain/wifi.ts';
import { cli, secretFile } from '../server/cli.ts';
import { type TestServer } from '../server/server.ts';
import type { Fixture } from '../server/fixture.ts';

export interface Registered {
	name: string;
	/** Entered in the gateway. */
	portal: string;
	/** '' where none is shared. */
	secret: string;
	key: string;
	/** All that was printed. */
	text: string;
}

let count = 0;

/** A name that no test of this file has used. */
export const gatewayName = (): string => `stand-in-${(count += 1)}`;

export async function registerGateway(
	server: Pick<TestServer, 'env' | 'url'>,
	kind: Kind,
	options: { loginHost: string; router?: number; origin?: string; more?: string[] }
): Promise<Registered> {
	const [adapter = ''] = kind.split('-');
	// The Wi-Fi of the stand-in takes the bought password.
	const place = kind === 'unifi' ? ['--external-access'] : ['--login-host', options.loginHost];
	const name = gatewayName();
	const { code, stdout, stderr } = await cli(
		[
			...['gateways', 'add', name, '--router', String(options.router ?? 3), '--kind', adapter],
			...place,
			...(options.more ?? [])
		],
		{ env: { ...server.env, ORIGIN: options.origin ?? server.url } }
	);
	if (code !== 0) throw new Error(`gateways add: ${stderr}`);
	return {
		name,
		portal: /^Portal address +(\S+)$/m.exec(stdout)?.[1] ?? '',
		secret: /^Secret \(\w+\), .*:\n(\S+)$/m.exec(stdout)?.[1] ?? '',
		key: /\/captive-portal\/([\w-]+)$/m.exec(stdout)?.[1] ?? '',
		text: stdout
	};
}

export interface RadiusGateway {
	name: string;
	key: string;
	radiusSecret: string;
	/** Sent to us by its RADIUS server. */
	token: string;
	/** Notes that the registration printed. */
	advice: string;
}

/** Registers a gateway that asks RADIUS, on a router whose passwords are of that kind. */
export async function registerRadius(
	{ server, sql }: Pick<Fixture, 'server' | 'sql'>,
	options: {
		kind: 'mikrotik' | 'coova' | 'hostapd';
		access: AccessKind;
		router: number;
		nas?: string;
		/** One to take over. */
		radiusSecret?: string;
	}
): Promise<RadiusGateway> {
	await sql.run('update routers set access_kind = ? where id = ?', options.access, options.router);
	const name = gatewayName();
	const { code, stdout, stderr } = await cli(
		[
			...['gateways', 'add', name, '--router', String(options.router), '--kind', options.kind],
			...(options.kind === 'hostapd' ? [] : ['--login-host', '10.5.50.1']),
			...(options.nas === undefined ? [] : ['--nas', options.nas]),
			...(options.radiusSecret === undefined
				? []
				: ['--radius-secret-file', secretFile(server, options.radiusSecret)])
		],
		{ env: { ...server.env, ORIGIN: server.url } }
	);
	if (code !== 0) throw new Error(`gateways add: ${stderr}`);
	const printed = (pattern: RegExp) => pattern.exec(stdout)?.[1] ?? '';
	return {
		name,
		key: printed(/\/captive-portal\/([\w-]+)$/m) || printed(/\/radius\/([\w-]+)/) || printed(/^Key +(\S+)$/m),
		radiusSecret: options.radiusSecret ?? printed(/^RADIUS secret, .*:\n(\S+)$/m),
		token: printed(/^Token of the RADIUS server, .*:\n(\S+)$/m),
		advice: stderr
	};
}

/** The parts that `airtill gateways config NAME` prints. */
export async function printedConfig(
	server: Pick<TestServer, 'env' | 'url'>,
	name: string
): Promise<ConfigPart[]> {
	const { code, stdout, stderr } = await cli(['gateways', 'config', name], {
		env: { ...server.env, ORIGIN: server.url }
	});
	if (code !== 0) throw new Error(`gateways config: ${stderr}`);
	return stdout.split(/^=== \d+\. /m).flatMap((part) => {
		const [head = '', ...lines] = part.split('\n');
		const [, title = head, file = null] = /^(.*?)(?: \((\S+)\))?$/.exec(head) ?? [];
		return head === '' ? [] : [{ title, file, text: `${lines.join('\n').trim()}\n` }];
	});
}

/** Registers a gateway by the command line, as an operator does, and reads what it prints. */
import type { Kind } from '../simulators/gateway/gateway.ts';
import { cli, type TestServer } from './server.ts';

export interface Registered {
	name: string;
	/** What is entered in the gateway. */
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
	const place = kind === 'unifi' ? ['--let-in-elsewhere'] : ['--login-host', options.loginHost];
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
		secret: /^Secret \(\w+\), .* again:\n(\S+)$/m.exec(stdout)?.[1] ?? '',
		key: /\/captive-portal\/([\w-]+)$/m.exec(stdout)?.[1] ?? '',
		text: stdout
	};
}

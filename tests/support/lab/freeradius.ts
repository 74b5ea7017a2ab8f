/**
 * The real FreeRADIUS with a configuration that Airtill printed, on loopback ports, and the programs that ask it:
 * radclient (PAP, CHAP, MSCHAP, accounting) and eapol_test (PEAP).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfigPart } from '#lib/server/gateways/gateway.ts';
import { freePort } from '../server/ports.ts';

/** Debian's configuration: a copy is changed, never this. */
const DEBIAN = '/etc/freeradius/3.0';
const startLimitMs = 30_000;
const stopLimitMs = 10_000;
const commandLimitMs = 110_000;

export interface FreeRadius {
	authPort: number;
	acctPort: number;
	/** Of its own listener for Disconnect-Requests, where one was asked for. */
	coaPort: number;
	/** Everything printed so far. */
	output(): string;
	stop(): Promise<void>;
}

/** Of that listener: not the one of another gateway. */
export const COA_ADDRESS = '127.0.0.9';

/** FreeRADIUS in the role of a gateway: it has one session, which one Disconnect-Request ends. */
const coaSite = (port: number, secret: string) => `
client coa-tests {
	ipaddr = 127.0.0.1/32
	secret = ${secret}
}
listen {
	type = coa
	ipaddr = ${COA_ADDRESS}
	port = ${port}
	virtual_server = coa-tests
}
server coa-tests {
	recv-coa {
		if (&Acct-Session-Id == "gone") {
			update reply {
				&Error-Cause := Session-Context-Not-Found
			}
			reject
		}
		ok
	}
	send-coa {
		ok
	}
}
`;

/** @param parts what \`gateways config\` prints, for as many gateways as there are */
export async function startFreeRadius(
	parts: readonly ConfigPart[],
	{ coaSecret }: { coaSecret?: string } = {}
): Promise<FreeRadius> {
	const folder = mkdtempSync(path.join(tmpdir(), 'airtill-freeradius-'));
	const own = path.join(folder, 'raddb');
	cpSync(DEBIAN, own, { recursive: true, verbatimSymlinks: true });
	const [authPort, acctPort, coaPort] = [await freePort(), await freePort(), await freePort()];
	for (const { file, text } of parts) {
		if (file?.startsWith(DEBIAN)) writeFileSync(path.join(own, path.relative(DEBIAN, file)), text);
	}
	if (coaSecret !== undefined) {
		// Else its own client of the same address would be in the way.
		writeFileSync(path.join(own, 'clients.conf'), '');
		writeFileSync(path.join(own, 'sites-enabled/coa-tests'), coaSite(coaPort, coaSecret));
	}
	// Where it listens and writes, and who it is: nothing else is changed.
	change(path.join(own, 'radiusd.conf'), (text) =>
		text
			.replace(/^raddbdir = .*$/m, `raddbdir = ${own}`)
			.replace(/^logdir = .*$/m, `logdir = ${folder}/log`)
			.replace(/^run_dir = .*$/m, `run_dir = ${folder}/run`)
			.replace(/^\tuser = .*$/m, '')
			.replace(/^\tgroup = .*$/m, '')
	);
	for (const name of ['log', 'run']) mkdirSync(path.join(folder, name));
	// The site "default" stays, as on a real server: it listens for all, here on loopback ports.
	change(path.join(own, 'sites-available/default'), (text) =>
		text.replace(/^listen \{\n[^]*?^\}$/gm, (block) => {
			if (/^\s*ipv6addr = /m.test(block)) return '';
			const port = /^\s*type = auth$/m.test(block) ? authPort : acctPort;
			return block
				.replace(/^\s*ipaddr = .*$/m, 'ipaddr = 127.0.0.1')
				.replace(/^\s*port = .*$/m, `port = ${port}`);
		})
	);
	const innerPort = await freePort();
	change(path.join(own, 'sites-available/inner-tunnel'), (text) =>
		text.replace(/^\s*port = 18120$/m, `port = ${innerPort}`)
	);

	let output = '';
	const child = spawn('freeradius', ['-f', '-l', 'stdout', '-d', own], {
		env: { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin`, LANG: 'C', TZ: 'UTC' },
		stdio: ['ignore', 'pipe', 'pipe']
	});
	child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
	child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
	const atExit = () => child.kill('SIGKILL');
	process.on('exit', atExit);
	const stop = async () => {
		process.off('exit', atExit);
		if (child.exitCode === null && child.signalCode === null) {
			const gone = once(child, 'exit');
			child.kill('SIGTERM');
			const limit = setTimeout(() => child.kill('SIGKILL'), stopLimitMs);
			await gone;
			clearTimeout(limit);
		}
		rmSync(folder, { recursive: true, force: true });
	};
	const deadline = performance.now() + startLimitMs;
	while (!output.includes('Ready to process requests')) {
		if (child.exitCode !== null || performance.now() > deadline) {
			await stop();
			throw new Error(`FreeRADIUS did not start:\n${output}`);
		}
		await sleep(25);
	}
	return { authPort, acctPort, coaPort, output: () => output, stop };
}

function change(file: string, edit: (text: string) => string) {
	writeFileSync(file, edit(readFileSync(file, 'utf8')));
}

async function command(program: string, args: string[], input = ''): Promise<string> {
	const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], timeout: commandLimitMs });
	let output = '';
	child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
	child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
	// It may end before it has read all.
	child.stdin.on('error', () => {});
	child.stdin.end(input);
	await once(child, 'close');
	return output;
}

export interface Nas {
	radius: FreeRadius;
	/** Loopback address from which it asks. */
	address: string;
	secret: string;
}

export interface Reply {
	/** `none` where there was no answer. */
	kind: 'accept' | 'reject' | 'accounting' | 'none';
	/** As they are printed: `Session-Timeout = 3600`. */
	attributes: Record<string, string[]>;
	text: string;
}

const KINDS = [
	[/^Received Access-Accept/m, 'accept'],
	[/^Received Access-Reject/m, 'reject'],
	[/^Received Accounting-Response/m, 'accounting']
] as const;

/** radclient exits with 0 whatever the answer is: its text is read. */
export async function radclient(
	{ radius, address, secret }: Nas,
	what: 'auth' | 'acct',
	attributes: Record<string, string | number>,
	more: string[] = []
): Promise<Reply> {
	const lines = Object.entries({ 'Packet-Src-IP-Address': address, ...attributes }).map(
		([name, value]) => `${name} = ${typeof value === 'number' ? value : quoted(value)}`
	);
	const port = what === 'auth' ? radius.authPort : radius.acctPort;
	const args = ['-x', '-r', '1', '-t', '5', ...more, `127.0.0.1:${port}`, what, secret];
	const text = await command('radclient', args, `${lines.join('\n')}\n`);
	const received = text.slice(Math.max(0, text.search(/^Received /m)));
	const found: Record<string, string[]> = {};
	for (const [, name = '', value = ''] of received.matchAll(/^\t([\w:-]+) = (.*)$/gm)) {
		(found[name] ??= []).push(value);
	}
	return { kind: KINDS.find(([pattern]) => pattern.test(text))?.[1] ?? 'none', attributes: found, text };
}

/** Numbers, addresses and names of values stand bare. */
const quoted = (value: string) =>
	/^[\d.]+$/.test(value) || /^(Start|Stop|Interim-Update|Accounting-On|User-Request)$/.test(value)
		? value
		: `"${value.replace(/["\\]/g, '\\$&')}"`;

/** A PEAP login with MSCHAPv2 inside, as a phone does it. */
export async function peap(
	{ radius, address, secret }: Nas,
	{ user, password, mac }: { user: string; password: string; mac: string }
): Promise<Reply> {
	const folder = mkdtempSync(path.join(tmpdir(), 'airtill-eapol-'));
	try {
		const file = path.join(folder, 'peap.conf');
		writeFileSync(
			file,
			`network={
	key_mgmt=WPA-EAP
	eap=PEAP
	anonymous_identity="anonymous"
	identity="${user}"
	password="${password}"
	phase2="auth=MSCHAPV2"
}
`
		);
		const text = await command('eapol_test', [
			...['-c', file, '-a', '127.0.0.1', '-p', String(radius.authPort), '-s', secret],
			...['-A', address, '-M', mac, '-N', '32:s:stand-in', '-r0', '-t', '20']
		]);
		const answer = text.slice(Math.max(0, text.lastIndexOf('Received RADIUS message')));
		const seconds = /Attribute 27 \(Session-Timeout\) length=6\n\s+Value: (\d+)/.exec(answer)?.[1];
		const users = [...answer.matchAll(/Attribute 1 \(User-Name\) length=\d+\n\s+Value: '([^']*)'/g)];
		const isAccepted = /^SUCCESS$/m.test(text) && answer.includes('(Access-Accept)');
		return {
			kind: isAccepted ? 'accept' : answer.includes('(Access-Reject)') ? 'reject' : 'none',
			attributes: {
				...(seconds === undefined ? {} : { 'Session-Timeout': [seconds] }),
				'User-Name': users.map(([, value = '']) => value),
				...(/Attribute 25 \(Class\)/.test(answer) ? { Class: ['there'] } : {})
			},
			text
		};
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

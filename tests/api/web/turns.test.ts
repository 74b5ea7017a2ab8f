/**
 * Requests take turns. The server is stopped while they are sent, so that it finds all of them at once, and the
 * identifiers of the answers tell in which order they began.
 */
import { connect, type Socket } from 'node:net';
import process from 'node:process';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { numberEnding } from '../../support/api/api.ts';
import { registerGateway } from '../../support/gateways/gateways.ts';
import { buyAt } from '../../support/pages/purchase.ts';
import { demoKey, useFixture, type Fixture } from '../../support/server/fixture.ts';

const ATTACKER = '127.0.0.1';
const OTHERS = ['127.0.0.2', '127.0.0.3'] as const;
const METRICS_TOKEN = 'a token of the tests, not a secret';
/** Of one who sends many requests: his connections, and the requests on each. */
const CONNECTIONS = 16;
const EACH = 6;
/** Of those, so many may begin before one that takes its turn. */
const FEW = 12;

const open = new Set<Socket>();
afterEach(() => {
	for (const socket of open) socket.destroy();
	open.clear();
});

interface Answer {
	status: number;
	head: string;
	/** When it began, as text that sorts; "" if it was refused without work. */
	began: string;
}

/** A connection that the server has accepted. `answers` reads as many as were sent. */
async function connection({ server }: Fixture, from: string) {
	const socket = connect({ port: server.port, host: '127.0.0.1', localAddress: from });
	open.add(socket);
	socket.on('error', () => undefined);
	let text = '';
	let sent = 0;
	let came = (): void => undefined;
	socket.setEncoding('latin1').on('data', (chunk: string) => {
		text += chunk;
		came();
	});
	socket.once('close', () => came());
	const send = (path: string, lines: string[] = []): void => {
		sent += 1;
		socket.write(`${[`GET ${path} HTTP/1.1`, 'Host: airtill.test', ...lines].join('\r\n')}\r\n\r\n`);
	};
	async function answers(): Promise<Answer[]> {
		const count = () => text.split('HTTP/1.1 ').length - 1;
		while (count() < sent && !socket.closed) await new Promise<void>((resolve) => (came = resolve));
		return (text.match(/HTTP\/1\.1 \d{3} [^]*?\r\n\r\n/g) ?? []).map((head) => ({
			head,
			status: Number(head.slice(9, 12)),
			began: /x-request-id: req_(\w{10})/i.exec(head)?.[1] ?? ''
		}));
	}
	send('/healthz');
	await answers();
	text = '';
	sent = 0;
	return { socket, send, answers, text: () => text };
}

type Connection = Awaited<ReturnType<typeof connection>>;
const connections = (fixture: Fixture, count: number, from: string): Promise<Connection[]> =>
	Promise.all(Array.from({ length: count }, () => connection(fixture, from)));

const answersOf = async (all: readonly Connection[]): Promise<Answer[]> =>
	(await Promise.all(all.map(({ answers }) => answers()))).flat();

/** Lets all that `send` sends arrive at once, in its order. */
async function atOnce({ server }: Fixture, send: () => void): Promise<void> {
	process.kill(server.pid, 'SIGSTOP');
	try {
		send();
		await Promise.all([...open].map((socket) => new Promise((resolve) => socket.write('', resolve))));
	} finally {
		process.kill(server.pid, 'SIGCONT');
	}
}

function flood(
	attackers: readonly Connection[],
	count: number,
	path: () => string,
	lines: string[] = []
): void {
	for (const { send } of attackers) for (let left = count; left > 0; left -= 1) send(path(), lines);
}

/** How many of the others began before the last of these. */
function beforeLast(these: readonly Answer[], others: readonly Answer[]): number {
	const last =
		these
			.map(({ began }) => began)
			.sort()
			.at(-1) ?? '';
	expect(these.every(({ status, began }) => status === 200 && began !== '')).toBe(true);
	return others.filter(({ began }) => began !== '' && began < last).length;
}

describe('requests take turns', () => {
	const fixture = useFixture({ database: 'sqlite', env: { METRICS_TOKEN } });
	let purchase: string;
	let another: string;
	beforeAll(async () => {
		const { url } = fixture().server;
		purchase = await buyAt(url, '/r/3', numberEnding('003'));
		another = await buyAt(url, '/r/3', numberEnding('003'));
	});

	/**
	 * Floods with requests for a path from the attacker's network, while others send too.
	 * @param from the networks of the others
	 * @returns how many of the flood began before the last of the others
	 */
	async function countBefore(
		from: readonly string[],
		path: () => string,
		sendOthers: (others: readonly Connection[]) => void,
		lines: string[] = []
	): Promise<number> {
		const attackers = await connections(fixture(), CONNECTIONS, ATTACKER);
		const others = await Promise.all(from.map((one) => connection(fixture(), one)));
		await atOnce(fixture(), () => {
			flood(attackers, EACH, path, lines);
			sendOthers(others);
		});
		return beforeLast(await answersOf(others), await answersOf(attackers));
	}

	it('however many requests of one network wait, those of others are answered between them', async () => {
		const before = await countBefore(
			OTHERS,
			() => '/r/3',
			(others) => {
				for (const { send } of others) for (const page of ['/r/3', '/help']) send(page);
			}
		);
		expect(before).toBeLessThan(FEW);
	});

	it('however often one device asks for a splash page, the others at its venue are answered between', async () => {
		const { key } = await registerGateway(fixture().server, 'mikrotik-pap', { loginHost: '10.5.50.1' });
		const redirect = (mac: string) =>
			`/splash/${key}?mac=${mac}&ip=10.5.50.9&link-login-only=http://10.5.50.1/login`;
		const before = await countBefore(
			[ATTACKER, ATTACKER],
			() => redirect('02:00:00:00:00:01'),
			(others) => {
				for (const [index, { send }] of others.entries()) send(redirect(`02:00:00:00:00:1${index}`));
			}
		);
		expect(before).toBeLessThan(FEW);
	});

	it('the API and purchases begin before other pages of the same network', async () => {
		const authorization = `Authorization: Bearer ${demoKey(fixture().server, 'app')}`;
		const before = await countBefore(
			[ATTACKER, ATTACKER],
			() => '/',
			([buyer, program]) => {
				for (const path of [`${purchase}/status`, '/healthz']) buyer?.send(path);
				program?.send('/v1/routers/3', [authorization]);
			}
		);
		expect(before).toBeLessThan(FEW);
	});

	it.each([
		['his own purchase', () => purchase],
		['purchases that he invents', () => `/s/${Math.random().toString(36).padEnd(24, 'x').slice(2, 26)}`]
	])(
		'a guest who asks for %s does not hold up his neighbour behind the same address',
		async (_what, path) => {
			const neighbour = await connection(fixture(), ATTACKER);
			for (const known of [purchase, another]) neighbour.send(known);
			await neighbour.answers();
			expect(await countBefore([ATTACKER], path, ([second]) => second?.send(another))).toBeLessThan(FEW);
		}
	);

	it('visitors of a proxy whose header nobody believes take turns, too', async () => {
		const send = ([other]: readonly Connection[]) => other?.send('/r/3', ['X-Forwarded-For: 203.0.113.2']);
		const before = await countBefore([ATTACKER], () => '/r/3', send, ['X-Forwarded-For: 203.0.113.1']);
		expect(before).toBeLessThan(FEW);
	});

	it('above 500 of one network that wait, its newest are refused, and nobody else', async () => {
		const key = `Authorization: Bearer ${demoKey(fixture().server, 'app')}`;
		for (const [path, status, lines, reason] of [
			['/v1/routers/3', 429, [key], '"violated-policies":["waiting"]'],
			['/splash/nothing', 503, ['Accept-Language: fr'], 'Beaucoup de personnes achètent']
		] as const) {
			const attackers = await connections(fixture(), CONNECTIONS, ATTACKER);
			const others = [await connection(fixture(), OTHERS[0]), await connection(fixture(), ATTACKER)];
			await atOnce(fixture(), () => {
				flood(attackers, 38, () => path, [...lines]);
				for (const { send } of others) send(purchase);
			});
			expect((await answersOf(others)).map((answer) => answer.status)).toEqual([200, 200]);
			const refused = (await answersOf(attackers)).filter((answer) => answer.status === status);
			expect(refused.length, path).toBeGreaterThan(50);
			expect(refused.length, path).toBeLessThanOrEqual(109);
			for (const { head } of refused) expect(head).toMatch(/^retry-after: \d+\r$/im);
			expect(Buffer.from(attackers.map(({ text }) => text()).join(''), 'latin1').toString()).toContain(
				reason
			);
		}
	});
});

describe('behind a proxy whose header is believed', () => {
	const fixture = useFixture({
		database: 'sqlite',
		env: { ADDRESS_HEADER: 'X-Forwarded-For', BODY_TIMEOUT: '1' }
	});

	it.each([
		['an address with ports', () => `203.0.113.1:${1024 + Math.floor(Math.random() * 9999)}`, '203.0.113.2'],
		['a /48', () => `2001:db8:1:${Math.floor(Math.random() * 65535).toString(16)}::1`, '2001:db8:2::1']
	])('%s is one network, whatever connection it uses', async (_what, address, other) => {
		const attackers = await connections(fixture(), CONNECTIONS, ATTACKER);
		const honest = await connection(fixture(), ATTACKER);
		await atOnce(fixture(), () => {
			for (let left = EACH; left > 0; left -= 1)
				flood(attackers, 1, () => '/r/3', [`X-Forwarded-For: ${address()}`]);
			honest.send('/r/3', [`X-Forwarded-For: ${other}`]);
		});
		expect(beforeLast(await honest.answers(), await answersOf(attackers))).toBeLessThan(FEW);
	});

	it.each([
		['a form', '/r/3', 'application/x-www-form-urlencoded', /^HTTP\/1\.1 408 /],
		['a form with a file', '/owner/settings?/brand', 'multipart/form-data; boundary=x', /^HTTP\/1\.1 408 /],
		// The API has no 408.
		['JSON', '/v1/sessions', 'application/json', /^$/]
	])('the connection of %s that is half sent ends', async (_what, path, type, answer) => {
		const { server, newKey } = fixture();
		const head = [
			`POST ${path} HTTP/1.1`,
			`Host: 127.0.0.1:${server.port}`,
			`Origin: ${server.url}`,
			`Authorization: Bearer ${(await newKey()).key}`,
			`Content-Type: ${type}`,
			'Content-Length: 99'
		];
		const { socket, text } = await connection(fixture(), ATTACKER);
		const isOver = new Promise((resolve) => socket.once('close', resolve));
		socket.write(`${head.join('\r\n')}\r\n\r\n5\r\nph`);
		await isOver;
		expect(text()).toMatch(answer);
	});
});

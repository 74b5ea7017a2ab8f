/** The address of a client, behind a proxy too. The settings have the meaning that adapter-node gives them. */
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Base } from '#lib/server/base.ts';
import { createAddressReader, networkOf } from '#lib/server/http/client-address.ts';

function request(headers: Record<string, string>): IncomingMessage {
	const message = new IncomingMessage(new Socket());
	Object.assign(message.headers, headers);
	Object.defineProperty(message.socket, 'remoteAddress', { value: '::ffff:127.0.0.1' });
	return message;
}

/** Reads the addresses of requests with one header each, and what was logged. */
function read(env: Record<string, string>, ...values: (string | null)[]) {
	const logged: object[] = [];
	const log = { warn: (details: object, text: string) => logged.push({ ...details, text }) };
	const readAddress = createAddressReader(env, log as unknown as Base['log']);
	const name = (env['ADDRESS_HEADER'] ?? 'x-forwarded-for').toLowerCase();
	const addresses = values.map((value) => readAddress(request(value === null ? {} : { [name]: value })));
	return { addresses, logged };
}

describe('the address of a client', () => {
	it('is that of the connection where no header is set, whatever was sent', () => {
		expect(read({}, '198.51.100.1')).toEqual({ addresses: ['127.0.0.1'], logged: [] });
	});

	it.each([
		['X-Client-Address', '192.0.2.9:51234', '192.0.2.9'],
		['X-Client-Address', '198.51.100.1, 192.0.2.9', '192.0.2.9'],
		['X-Forwarded-For', '198.51.100.1, 203.0.113.2 ,[2001:DB8::9]:443', '2001:db8::9'],
		['X-Forwarded-For', '198.51.100.1,,192.0.2.9,', '192.0.2.9'],
		['Forwarded', 'for=192.0.2.9', '192.0.2.9'],
		['Forwarded', 'For="[2001:db8::9]:4711";proto=https;by=203.0.113.43', '2001:db8::9'],
		['Forwarded', 'proto=https; for="192.0.2.9:80"', '192.0.2.9'],
		['Forwarded', 'for=198.51.100.1;by="a,for=203.0.113.2", for=192.0.2.9;host="b,c"', '192.0.2.9'],
		['Forwarded', 'for=198.51.100.1, FOR=192.0.2.9', '192.0.2.9']
	])('is read from %s: %s', (header, value, address) => {
		expect(read({ ADDRESS_HEADER: header }, value)).toEqual({ addresses: [address], logged: [] });
	});

	it.each([
		['', '192.0.2.3'],
		['1', '192.0.2.3'],
		['2', '203.0.113.2'],
		['3', '198.51.100.1']
	])('counts proxies from the end: %s', (XFF_DEPTH, address) => {
		const plain = '198.51.100.1, 203.0.113.2 ,192.0.2.3';
		expect(read({ ADDRESS_HEADER: 'X-Forwarded-For', XFF_DEPTH }, plain).addresses).toEqual([address]);
		const named = 'for=198.51.100.1, for=203.0.113.2, for="192.0.2.3:1"';
		expect(read({ ADDRESS_HEADER: 'Forwarded', XFF_DEPTH }, named).addresses).toEqual([address]);
	});

	it.each(['4', '0', '-1', 'x'])('is not known when XFF_DEPTH is %s', (XFF_DEPTH) => {
		const settings = { ADDRESS_HEADER: 'X-Forwarded-For', XFF_DEPTH };
		expect(read(settings, '198.51.100.1, 203.0.113.2, 192.0.2.3').addresses).toEqual([null]);
	});

	it.each(['unknown', '_hidden', '""', 'a.example', 'x'.repeat(9_000)])(
		'is not known of the header "%s", which one line in the log says, however many requests come',
		(value) => {
			const { addresses, logged } = read({ ADDRESS_HEADER: 'X-Real-IP' }, value, value, 'other', '192.0.2.9');
			expect(addresses).toEqual([null, null, null, '192.0.2.9']);
			expect(logged).toEqual([expect.objectContaining({ header: 'x-real-ip', value: value.slice(0, 100) })]);
		}
	);

	it('is not known without the header, which another line says once', () => {
		const { addresses, logged } = read(
			{ ADDRESS_HEADER: 'Forwarded' },
			null,
			'',
			'proto=https',
			'for=_hidden'
		);
		expect(addresses).toEqual([null, null, null, null]);
		expect(logged).toHaveLength(2);
	});
});

it('clients without an address are one network, and the addresses of one /64', () => {
	expect([null, '203.0.113.7', '2001:db8:a:b::1', '2001:db8:a:b:ffff::2'].map(networkOf)).toEqual([
		'unknown',
		'203.0.113.7',
		'2001:db8:a:b::/64',
		'2001:db8:a:b::/64'
	]);
});

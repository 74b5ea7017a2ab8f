/** The environment of adapter-node, read as adapter-node reads it. */
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { addressOf, hostOf, readAdapterSettings } from '../../src/lib/server/api/http/adapter-settings.ts';

function request(headers: Record<string, string>): IncomingMessage {
	const message = new IncomingMessage(new Socket());
	Object.assign(message.headers, headers);
	return message;
}

describe('BODY_SIZE_LIMIT', () => {
	it.each([
		[undefined, 512 * 1024],
		['2K', 2048],
		['3m', 3 * 1024 ** 2],
		['1G', 1024 ** 3],
		['100', 100],
		['Infinity', Infinity]
	])('%s is %d bytes', (BODY_SIZE_LIMIT, bytes) => {
		expect(readAdapterSettings({ BODY_SIZE_LIMIT }).bodySizeLimit).toBe(bytes);
	});
});

describe('the address of a client', () => {
	const forwarded = request({ 'x-forwarded-for': '198.51.100.1, 203.0.113.2 ,192.0.2.3' });

	it('is that of the connection where no header is set, whatever was sent', () => {
		const message = request({ 'x-forwarded-for': '198.51.100.1' });
		Object.defineProperty(message.socket, 'remoteAddress', { value: '127.0.0.1' });
		expect(addressOf(message, readAdapterSettings({}))).toBe('127.0.0.1');
	});

	it('is the one that the header names', () => {
		const settings = readAdapterSettings({ ADDRESS_HEADER: 'X-Client-Address' });
		expect(addressOf(request({ 'x-client-address': '192.0.2.9' }), settings)).toBe('192.0.2.9');
		expect(() => addressOf(request({}), settings)).toThrow('x-client-address');
	});

	it.each([
		[undefined, '192.0.2.3'],
		['2', '203.0.113.2'],
		['3', '198.51.100.1']
	])('counts proxies from the end of X-Forwarded-For: %s', (XFF_DEPTH, address) => {
		const settings = readAdapterSettings({ ADDRESS_HEADER: 'X-Forwarded-For', XFF_DEPTH });
		expect(addressOf(forwarded, settings)).toBe(address);
	});

	it.each(['4', '0', '-1', 'x'])('is not known when XFF_DEPTH is %s', (XFF_DEPTH) => {
		const settings = readAdapterSettings({ ADDRESS_HEADER: 'X-Forwarded-For', XFF_DEPTH });
		expect(() => addressOf(forwarded, settings)).toThrow();
	});
});

describe('the host', () => {
	it.each([
		[{}, { host: 'Airtill.Test:3000' }, 'airtill.test:3000'],
		[{}, { host: 'airtill.test', 'x-forwarded-host': 'other.test' }, 'airtill.test'],
		[{ HOST_HEADER: 'X-Forwarded-Host' }, { host: 'inner', 'x-forwarded-host': 'shop.test' }, 'shop.test'],
		[{ HOST_HEADER: 'X-Forwarded-Host' }, { host: 'inner' }, 'inner'],
		[{ PORT_HEADER: 'X-Forwarded-Port' }, { host: 'inner', 'x-forwarded-port': '8443' }, 'inner:8443'],
		[{ PORT_HEADER: 'X-Forwarded-Port' }, { host: 'inner', 'x-forwarded-port': '443' }, 'inner']
	])('with %j and %j is %s', (env, headers, host) => {
		expect(hostOf(request(headers).headers, readAdapterSettings(env))).toBe(host);
	});
});

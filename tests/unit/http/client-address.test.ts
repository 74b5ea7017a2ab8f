/** The proxy settings of adapter-node have the same meaning for the API. */
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { addressOf, readProxySettings } from '../../../src/lib/server/http/client-address.ts';

function request(headers: Record<string, string>): IncomingMessage {
	const message = new IncomingMessage(new Socket());
	Object.assign(message.headers, headers);
	return message;
}

describe('the address of a client', () => {
	const forwarded = request({ 'x-forwarded-for': '198.51.100.1, 203.0.113.2 ,192.0.2.3' });

	it('is that of the connection where no header is set, whatever was sent', () => {
		const message = request({ 'x-forwarded-for': '198.51.100.1' });
		Object.defineProperty(message.socket, 'remoteAddress', { value: '127.0.0.1' });
		expect(addressOf(message, readProxySettings({}))).toBe('127.0.0.1');
	});

	it('is the one that the header names', () => {
		const settings = readProxySettings({ ADDRESS_HEADER: 'X-Client-Address' });
		expect(addressOf(request({ 'x-client-address': '192.0.2.9' }), settings)).toBe('192.0.2.9');
		expect(() => addressOf(request({}), settings)).toThrow('x-client-address');
	});

	it.each([
		[undefined, '192.0.2.3'],
		['2', '203.0.113.2'],
		['3', '198.51.100.1']
	])('counts proxies from the end of X-Forwarded-For: %s', (XFF_DEPTH, address) => {
		const settings = readProxySettings({ ADDRESS_HEADER: 'X-Forwarded-For', XFF_DEPTH });
		expect(addressOf(forwarded, settings)).toBe(address);
	});

	it.each(['4', '0', '-1', 'x'])('is not known when XFF_DEPTH is %s', (XFF_DEPTH) => {
		const settings = readProxySettings({ ADDRESS_HEADER: 'X-Forwarded-For', XFF_DEPTH });
		expect(() => addressOf(forwarded, settings)).toThrow();
	});
});

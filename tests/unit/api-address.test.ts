/** Which requests are the API's, and how their address is read: as a URL would be, however it is written. */
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { apiAddress } from '../../src/lib/server/api/http/api-address.ts';

function request(url: string): IncomingMessage {
	const message = new IncomingMessage(new Socket());
	message.url = url;
	message.headers.host = 'airtill.test';
	return message;
}

function read(url: string) {
	const address = apiAddress(request(url));
	return address && [address.pathname, [...address.searchParams]];
}

describe('the address of a call', () => {
	it.each([
		['/v1', '/v1'],
		['/v1/routers', '/v1/routers'],
		['//v1//routers/', '//v1//routers/'],
		['/%761/%72outers/%31', '/v1/routers/1'],
		['/v1/routers/./1', '/v1/routers/1'],
		['/v1/routers/../sessions', '/v1/sessions'],
		['/v1/routers/%2E%2e/sessions', '/v1/sessions'],
		['/x/../v1/routers/1', '/v1/routers/1'],
		['/./%2e/v1/routers', '/v1/routers'],
		['/x/%2E./v1', '/v1'],
		['/x?a=/../v1', null],
		['/x/..v1', null],
		['/v1/a%2Fb', '/v1/a%2Fb'],
		['/v1/a%FF', '/v1/a%FF'],
		['/v1\u00e9', null],
		['/v12', null],
		['/V1/routers', null],
		['/sw/v1/routers', null],
		['*', null],
		['/', null]
	])('%s has the path %s', (url, path) => {
		expect(read(url)?.[0] ?? null).toBe(path);
	});

	it.each([
		'?lat=1&lon=2',
		'??lat=1',
		'?lat=1&lat=2&=&&x',
		'?a=%20+%FF%zz',
		'?a=\u00e9#b=1',
		'?',
		'',
		'?a=\'"<>`{}|\\^'
	])('the query %s says what it says in a URL', (query) => {
		const path = '/v1/routers';
		expect(read(path + query)).toEqual([
			path,
			[...new URL(`http://airtill.test${path}${query}`).searchParams]
		]);
	});

	it('an absolute one names the host', () => {
		const message = request('http://shop.test:81/v1/routers?x=1');
		expect(apiAddress(message)?.pathname).toBe('/v1/routers');
		expect(message.headers.host).toBe('shop.test:81');
	});

	it('of a page is not touched', () => {
		const message = request('http://shop.test/%76oice');
		expect(apiAddress(message)).toBeNull();
		expect([message.url, message.headers.host]).toEqual(['http://shop.test/%76oice', 'airtill.test']);
	});
});

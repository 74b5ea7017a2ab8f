/** Airtill calls the address that an owner has given only if it is public, whatever its name says at that moment. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHttpClient } from '../../../src/lib/server/platform/http-client.ts';
import { startReceiver, type Receiver } from '../../support/api/receiver.ts';

let receiver: Receiver;
beforeAll(async () => {
	receiver = await startReceiver();
});
afterAll(() => receiver?.stop());

const request = (host: string) => ({
	...{ method: 'GET' as const, headers: {} },
	url: `http://${host}:${new URL(receiver.url).port}/owned`
});

it.each([
	['a name of this machine', 'router.example.com'],
	['an address of this machine', '127.0.0.1'],
	['an IPv4 address inside IPv6', '[::ffff:127.0.0.1]'],
	['an address of a private network', '10.0.0.1']
])('%s is not called', async (_what, host) => {
	const http = createHttpClient({
		timeoutMs: 2_000,
		publicBy: async () => [{ address: '127.0.0.1', family: 4 }]
	});
	expect(await http.send(request(host))).toMatchObject({ kind: 'failure', cause: 'network', sent: false });
	expect(receiver.at('/owned')).toEqual([]);
	await http.stop();
});

it('without this rule the receiver would be reached', async () => {
	const http = createHttpClient({ timeoutMs: 2_000 });
	expect(await http.send(request('127.0.0.1'))).toMatchObject({ kind: 'response' });
	await http.stop();
});

/** A status asks a gateway only for a limited time, however many calls it takes. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { GatewayTransport } from '../../../src/lib/server/gateways/gateway.ts';
import type { RegisteredGateway } from '../../../src/lib/server/gateways/gateways.ts';
import { fetchGatewayStatus } from '../../../src/lib/server/gateways/health.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const unifi = {
	...{
		id: 1,
		routerId: 1,
		kind: 'unifi',
		title: 'UniFi',
		mode: 'push',
		name: 'console',
		key: '',
		loginHosts: []
	},
	...{ secret: null, credentials: { apiKey: 'fake' }, installation: '', unreadable: [] },
	...{ settings: { api: 'https://console.example', site: 'default' } },
	...{
		seenAt: null,
		unresponsiveSince: null,
		clockOffsetMs: null,
		trouble: null,
		onlineCount: null,
		unreadDevice: null
	},
	...{ createdAt: 0, updatedAt: 0, removingAt: null }
} as const satisfies RegisteredGateway;

/** Answers each call after five seconds, and has another page of sites each time. */
function slowTransport() {
	const asked: string[] = [];
	const transport: GatewayTransport = {
		async send({ url }) {
			asked.push(url);
			await new Promise((resolve) => setTimeout(resolve, 5_000));
			const text = JSON.stringify({ totalCount: 10_000, data: [{ id: '1', name: 'other' }] });
			return { kind: 'response', status: 200, headers: {}, text };
		},
		now: () => 0
	};
	return { asked, transport };
}

it('ends after twelve seconds, and makes no further call', async () => {
	const { asked, transport } = slowTransport();
	const status = fetchGatewayStatus(unifi, transport);
	await vi.advanceTimersByTimeAsync(12_000);
	expect(await status).toMatchObject({
		...{ reachable: false, isUsable: false },
		problems: ['The gateway did not respond within 12 seconds.']
	});
	await vi.advanceTimersByTimeAsync(120_000);
	expect(asked).toHaveLength(3);
});

it('asks nothing of a gateway whose secrets cannot be read', async () => {
	const { asked, transport } = slowTransport();
	const status = await fetchGatewayStatus({ ...unifi, unreadable: ['--api-key-file FILE'] }, transport);
	expect(status?.problems.join()).toContain('gateways rotate console --api-key-file FILE');
	expect([status?.reachable, asked]).toEqual([false, []]);
});

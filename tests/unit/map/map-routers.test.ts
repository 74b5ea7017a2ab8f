import { describe, expect, it } from 'vitest';
import { loadConfig } from '#lib/server/config/config.ts';
import { createMapRouters } from '#lib/server/portal/map-routers.ts';
import type { ApiClient } from '#lib/server/portal/api-client.ts';

const SECRET = 'a secret of at least 32 characters';
const AREA = { lat: 0.35, lon: 32.58, radius: 1_000 };

function start(env: Record<string, string> = {}) {
	let now = 1_800_000_000_000;
	let calls = 0;
	let fails = false;
	const routers = createMapRouters(loadConfig({ AIRTILL_SECRET: SECRET, ...env }), { now: () => now });
	const api: Pick<ApiClient, 'listRouters'> = {
		listRouters: async () => {
			calls += 1;
			if (fails) throw new Error('away');
			return { data: [], next_cursor: null } as unknown as Awaited<ReturnType<ApiClient['listRouters']>>;
		}
	};
	return {
		read: (lat = AREA.lat, cursor: string | null = null) =>
			routers.page(api, { ...AREA, lat }, cursor, () => null),
		pass: (ms: number) => (now += ms),
		fail: (does: boolean) => (fails = does),
		calls: () => calls
	};
}

describe('routers for the map', () => {
	it('are read once for everybody who looks there within a minute', async () => {
		const { read, pass, calls } = start();
		await Promise.all([read(), read(), read()]);
		await read();
		expect(calls()).toBe(1);
		await read(AREA.lat, 'next');
		expect(calls()).toBe(2);
		pass(61_000);
		await read();
		expect(calls()).toBe(3);
	});

	it('of a remote service take a quarter of the smallest plan and leave the rest to those who buy', async () => {
		const env = { AIRTILL_API_URL: 'https://api.example/v1', AIRTILL_API_KEY: 'not-a-real-key' };
		const { read, pass, calls } = start(env);
		for (let at = 0; at < 25; at += 1) await read(at);
		await expect(read(26)).rejects.toThrow('limited');
		await expect(read(26)).rejects.toMatchObject({ waitSeconds: 60 });
		// What was read is still there.
		await read(3);
		expect(calls()).toBe(25);
		pass(60_001);
		await read(26);
		expect(calls()).toBe(26);
	});

	it('that could not be read are asked for again', async () => {
		const { read, fail, calls } = start();
		fail(true);
		await expect(read()).rejects.toThrow('away');
		fail(false);
		await read();
		expect(calls()).toBe(2);
	});
});

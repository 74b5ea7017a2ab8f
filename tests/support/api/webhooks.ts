/** Webhooks under test: a receiver, and what an account can do with its endpoints beside the API (in the developer area). */
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import type { z } from 'zod';
import { type EventName, webhookEndpoint, webhookEvents } from '#lib/server/contract/webhooks.ts';
import { openDatabase, type Database } from '#lib/server/db/database.ts';
import { createSecrets } from '#lib/server/platform/secrets.ts';
import { createJobs } from '#lib/server/jobs.ts';
import { createLog } from '#lib/server/platform/log.ts';
import type { Webhooks } from '#lib/server/developer/webhooks.ts';
import type { Api } from './api.ts';
import { startReceiver, type Received, type Receiver } from './receiver.ts';
import { eventually, SECRET, type Fixture } from '../server/fixture.ts';

export type Registered = z.output<typeof webhookEndpoint>;

/** Deliveries go to a receiver on this machine. */
export const INSECURE = { WEBHOOK_ALLOW_INSECURE: '1' };

export const REGISTER = '/v1/webhooks/register';

export async function register(api: Api, url: string, events: readonly string[]): Promise<Registered> {
	const { status, body } = await api.send('POST', REGISTER, { body: { url, events } });
	expect([200, 201], JSON.stringify(body)).toContain(status);
	return webhookEndpoint.parse(body);
}

/** Wire format 5.2: less than 20 KB. */
const MAX_BODY_BYTES = 20_000;

/** A body that verifies with the reference implementation, and has the documented shape. */
export function verified(
	received: Received | undefined,
	secret: string | null
): { id: string; type: EventName; timestamp: string; data: Record<string, unknown> } {
	if (!received || secret === null) throw new Error('no request was received, or the secret is missing');
	if (Buffer.byteLength(received.raw) >= MAX_BODY_BYTES) throw new Error('The body of an event is too large');
	const headers = received.headers as Record<string, string>;
	// The server's clock may be moved; that its timestamps are current is shown where it is not.
	const now = vi.spyOn(Date, 'now').mockReturnValue(Number(headers['webhook-timestamp']) * 1000);
	const body = new Webhook(secret).verify(received.raw, headers) as { type: EventName };
	now.mockRestore();
	webhookEvents[body.type].strict().parse(body);
	return body as ReturnType<typeof verified>;
}

/** The domain beside a running server: its database, its secret, its clock. */
async function openWebhooks(
	fixture: Fixture
): Promise<{ webhooks: Webhooks; database: Database; close(): Promise<void> }> {
	const clock = fixture.server;
	const database = await openDatabase(clock.databaseUrl, { poolSize: 2 });
	const webhooks: Webhooks = {
		database,
		secrets: createSecrets(SECRET),
		clock,
		jobs: createJobs(database, clock, createLog('silent')),
		rules: { allowInsecure: true, ownHosts: [] }
	};
	return { webhooks, database, close: () => database.close() };
}

/** A receiver and the domain for the tests of one `describe`, beside its fixture. */
export function useWebhooks(fixture: () => Fixture): () => { receiver: Receiver; webhooks: Webhooks } {
	let receiver: Receiver | null = null;
	let opened: Awaited<ReturnType<typeof openWebhooks>> | null = null;
	beforeAll(async () => {
		receiver = await startReceiver();
		opened = await openWebhooks(fixture());
	});
	afterAll(async () => {
		await opened?.close();
		await receiver?.stop();
	});
	return () => {
		if (!receiver || !opened) throw new Error('The receiver starts before the tests');
		return { receiver, webhooks: opened.webhooks };
	};
}

/** Waits until so many requests have come to a path. */
export async function arrived(receiver: Receiver, path: string, count = 1): Promise<Received[]> {
	return eventually(`${count} at ${path}`, async () => {
		const received = receiver.at(path);
		return received.length >= count && received;
	});
}

/** Waits until no delivery to an endpoint is in flight. */
export async function quiet({ sql }: Fixture, endpointId: number): Promise<void> {
	await eventually(`nothing is sent to ${endpointId}`, async () => {
		const busy = await sql.count(
			'select count(*) from jobs where group_id = ? and lease_until is not null',
			endpointId
		);
		return busy === 0;
	});
}

let paths = 0;
/** A path that no test has used. */
export const newPath = (): string => `/hook-${(paths += 1)}`;

import {
	MAX_ENDPOINTS,
	type WebhookBody,
	type WebhookRegistrationBody
} from '#lib/server/contract/webhooks.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { retryUniqueViolation } from '#lib/server/db/queries.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { secretContext } from './delivery.ts';
import { newSecret } from './signature.ts';
import * as store from './store.ts';
import { urlRefusal } from './transport/url-rules.ts';
import type { WebhooksContext } from './webhooks.ts';

const MAX_ATTEMPTS = 5;

/**
 * Registers a URL and sends nothing to it. A known URL of the account gets the new events and is enabled again. Its
 * secret stays and is not shown.
 * @param from the host of this request, and whether it came from this machine
 * @param remember stores the idempotent response in the transaction of its effect
 * @throws AppError `webhook_url_not_allowed | webhook_limit_reached`
 */
export async function register(
	context: WebhooksContext,
	{ accountId }: { accountId: number },
	wanted: WebhookRegistrationBody,
	from: { host: string; isLocal: boolean } | null,
	remember?: (trx: Tx, body: WebhookBody, status: 200 | 201) => Promise<void>
): Promise<{ created: boolean; body: WebhookBody }> {
	const { database, rules } = context;
	const ownHosts = [...rules.ownHosts, ...(from === null ? [] : [from.host])];
	// Whoever is on this machine can call its services anyway; others must not reach them through us.
	const allowThisMachine = rules.allowThisMachine === true && from?.isLocal === true;
	const refusal = urlRefusal(wanted.url, { ...rules, ownHosts, allowThisMachine });
	if (refusal !== null) throw new AppError('webhook_url_not_allowed', refusal);
	// A taken idempotency key fails every time.
	return retryUniqueViolation(database, MAX_ATTEMPTS, () =>
		database.transact(async (trx) => {
			const result = await registerIn(trx, context, accountId, wanted);
			await remember?.(trx, result.body, result.created ? 201 : 200);
			return result;
		})
	);
}

async function registerIn(
	trx: Tx,
	{ clock, secrets }: WebhooksContext,
	accountId: number,
	{ url, events }: WebhookRegistrationBody
) {
	const now = clock.now();
	const address = addressOf(url);
	const columns = { url, events: JSON.stringify(events), updated_at: now };
	const known = await store.findByAddress(trx, accountId, address);
	if (known) {
		const row = await store.change(trx, known.id, { ...store.HEALTHY, ...columns });
		return { created: false, body: webhookBody(row, null) };
	}
	if ((await store.count(trx, accountId)) >= MAX_ENDPOINTS) {
		throw new AppError('webhook_limit_reached', `An account may have ${MAX_ENDPOINTS} webhooks.`);
	}
	const secret = newSecret();
	const row = await store.insert(trx, {
		...columns,
		account_id: accountId,
		address,
		status: 'active',
		secret_sealed: secrets.encrypt(secret, secretContext({ account_id: accountId, address })),
		created_at: now
	});
	return { created: true, body: webhookBody(row, secret) };
}

export const webhookBody = (row: store.EndpointRow, secret: string | null): WebhookBody => ({
	id: row.id,
	url: row.url,
	events: JSON.parse(row.events) as string[],
	status: row.status,
	secret,
	created_at: isoTime(row.created_at),
	updated_at: isoTime(row.updated_at)
});

/** Normalises a URL, so that a receiver does not get events twice. */
function addressOf(text: string): string {
	const url = new URL(text);
	url.hostname = url.hostname.replace(/\.$/, '');
	return url.href;
}

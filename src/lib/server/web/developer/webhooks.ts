import { error, type RequestEvent } from '@sveltejs/kit';
import { EVENT_NAMES, EVENT_TEXTS } from '#lib/server/contract/webhooks.ts';
import type { Visitor } from '../sign-in/sign-in.ts';
import { idOf } from '../page-links.ts';

/** Excludes the test event, which every endpoint receives. */
export const EVENT_CHOICES = EVENT_NAMES.filter((name) => name !== 'webhook.test').map((name) => ({
	name,
	text: EVENT_TEXTS[name].replaceAll('`', '')
}));

export const knownEvents = (names: readonly string[]) =>
	EVENT_CHOICES.map(({ name }) => name).filter((name) => names.includes(name));

export async function endpointOf({ locals, params }: RequestEvent<{ id: string }>, { account }: Visitor) {
	const endpoint = await locals.app.webhooks.find(account.id, idOf(params.id));
	if (!endpoint) error(404, 'You have no such webhook.');
	return endpoint;
}

const FAILURES: Readonly<Record<string, string>> = {
	timeout: 'no answer within 15 seconds',
	address_not_allowed: 'the address is not a public one',
	name_not_found: 'the host name is not found',
	connection_failed: 'no connection',
	certificate_invalid: 'the certificate is not valid',
	response_invalid: 'the answer was no HTTP',
	interrupted: 'interrupted here; it is tried again',
	endpoint_disabled: 'the webhook was disabled'
};

export function outcomeText(attempt: { statusCode: number | null; failure: string | null }): string | null {
	if (attempt.statusCode !== null) return `HTTP ${attempt.statusCode}`;
	return attempt.failure === null ? null : (FAILURES[attempt.failure] ?? attempt.failure);
}

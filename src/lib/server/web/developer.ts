import { type RequestEvent, error } from '@sveltejs/kit';
import { logSecurity } from '#lib/server/http/client-address.ts';
import { SIGN_IN_PATH, type Visitor, signedIn } from './sign-in/sign-in.ts';
import { EVENT_NAMES, EVENT_TEXTS } from '#lib/server/contract/webhooks.ts';
import { idOf } from './page-links.ts';
import { findWebhook } from '../developer/webhooks.ts';

/**
 * Finds the person on the developer pages, which staff of an owner do not have. Redirects to the sign-in page.
 * Throws 403 for staff of an owner.
 */
export async function requireDeveloper(event: RequestEvent) {
	const { account, ...found } = await signedIn(event, SIGN_IN_PATH);
	const { role } = account;
	if (role !== 'staff') return { ...found, account: { ...account, role } };
	logSecurity(event, 'page refused', { account: account.id, reason: 'staff' });
	error(403, 'Staff of an owner have no API keys. Sign out here, and open the owner pages.');
}

/** Excludes the test event, which every endpoint receives. */
export const EVENT_CHOICES = EVENT_NAMES.filter((name) => name !== 'webhook.test').map((name) => ({
	name,
	text: EVENT_TEXTS[name].replaceAll('`', '')
}));

export const filterEvents = (names: readonly string[]) =>
	EVENT_CHOICES.map(({ name }) => name).filter((name) => names.includes(name));

export async function requireEndpoint(
	{ locals, params }: RequestEvent<{ id: string }>,
	{ account }: Visitor
) {
	const endpoint = await findWebhook(locals.app.webhooks, account.id, idOf(params.id));
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

export function formatOutcome(attempt: { statusCode: number | null; failure: string | null }): string | null {
	if (attempt.statusCode !== null) return `HTTP ${attempt.statusCode}`;
	return attempt.failure === null ? null : (FAILURES[attempt.failure] ?? attempt.failure);
}

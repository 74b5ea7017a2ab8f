import type { Accounts } from '../../accounts/accounts.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import type { Mail, Mailer } from '#lib/server/platform/mail.ts';
import type { EndpointRow } from './store.ts';
import type { Notify } from './upkeep.ts';

/** Without a mail server, only the log has the notice. */
export const mailNotices =
	({ accounts, mailer, origin }: { accounts: Accounts; mailer: Mailer; origin: string | null }): Notify =>
	async (endpoint) => {
		const account = await accounts.find(endpoint.account_id);
		if (!account || mailer.problem !== null) return;
		await mailer.send(noticeMail(endpoint, { email: account.email, origin }));
	};

/** Writes the email about a failing webhook. @param origin address of the developer area, if known */
export function noticeMail(
	{
		id,
		url,
		notice,
		failing_since: failingSince,
		disabled_reason: reason
	}: Pick<EndpointRow, 'id' | 'url' | 'notice' | 'failing_since' | 'disabled_reason'>,
	to: { email: string; origin: string | null }
): Mail {
	const { host, origin } = new URL(url);
	const where = to.origin === null ? 'the developer area' : `${to.origin}/developer/webhooks/${id}`;
	const isDisabled = notice === 'disabled';
	const isGone = reason === 'gone';
	return {
		to: to.email,
		subject: isDisabled ? `Webhook to ${host} is disabled` : `Webhook to ${host} has failed for three days`,
		text: [
			`Your webhook number ${id} does not take our events:`,
			'',
			// The whole address may contain a secret of the receiver.
			`${host}${url === origin ? '' : '/…'}`,
			'',
			...(isGone ? ['It answered 410 Gone, so we have stopped.'] : []),
			...(isGone || failingSince === null
				? []
				: [`No attempt has succeeded since ${isoTime(failingSince)}.`]),
			isDisabled
				? 'It is disabled now. Its events are kept for 30 days and not sent.'
				: 'If that goes on, it will be disabled after five days.',
			'',
			`What was sent and answered, and how to ${isDisabled ? 'enable it and send it again' : 'test it'}: ${where}`
		].join('\n')
	};
}

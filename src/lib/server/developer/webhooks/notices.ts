import type { Accounts } from '../../accounts/accounts.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import type { Mail, Mailer } from '#lib/server/platform/mail.ts';
import type { Notify, WebhookNotice } from './upkeep.ts';

/** Without a mail server, only the log has the notice. */
export const mailNotices =
	({ accounts, mailer, origin }: { accounts: Accounts; mailer: Mailer; origin: string | null }): Notify =>
	async (accountId, notice) => {
		const account = await accounts.find(accountId);
		if (!account || mailer.problem !== null) return;
		await mailer.send(noticeMail(notice, { email: account.email, origin }));
	};

/** Writes the email about a failing webhook. @param origin address of the developer area, if known */
export function noticeMail(notice: WebhookNotice, to: { email: string; origin: string | null }): Mail {
	const { host } = new URL(notice.url);
	const where =
		to.origin === null ? 'the developer area' : `${to.origin}/developer/webhooks/${notice.endpointId}`;
	const isDisabled = notice.kind === 'disabled';
	return {
		to: to.email,
		subject: isDisabled ? `Webhook to ${host} is disabled` : `Webhook to ${host} has failed for three days`,
		text: [
			`Your webhook number ${notice.endpointId} does not take our events:`,
			'',
			// The whole address may contain a secret of the receiver.
			`${host}${notice.url === new URL(notice.url).origin ? '' : '/…'}`,
			'',
			...(notice.reason === 'gone' ? ['It answered 410 Gone, so we have stopped.'] : []),
			...(notice.failingSince === null || notice.reason === 'gone'
				? []
				: [`No attempt has succeeded since ${isoTime(notice.failingSince)}.`]),
			isDisabled
				? 'It is disabled now. Its events are kept for 30 days and not sent.'
				: 'If that goes on, it will be disabled after five days.',
			'',
			`What was sent and answered, and how to ${isDisabled ? 'enable it and send it again' : 'test it'}: ${where}`
		].join('\n')
	};
}

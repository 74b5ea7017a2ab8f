import type { Accounts } from '../accounts/accounts.ts';
import { isoTime } from '../clock.ts';
import type { Mailer } from '../mail/mail.ts';
import type { Notify, WebhookNotice } from './upkeep.ts';

/** Mails an account that its endpoint fails, or is disabled. Without a mail server nobody is told. */
export const mailNotices =
	(accounts: Accounts, mailer: Mailer): Notify =>
	async (accountId, notice) => {
		const account = await accounts.find(accountId);
		if (!account || mailer.problem !== null) return;
		const subject =
			notice.kind === 'disabled' ? 'A webhook endpoint was disabled' : 'A webhook endpoint keeps failing';
		await mailer.send({ to: account.email, subject, text: textOf(notice) });
	};

function textOf({ kind, url, failingSince, reason }: WebhookNotice): string {
	const since = failingSince === null ? '' : ` since ${isoTime(failingSince)}`;
	if (kind === 'failing') {
		return `Deliveries to\n\n\t${url}\n\nhave failed${since}. After five days the endpoint is disabled.\n`;
	}
	const why = reason === 'gone' ? 'It answered 410.' : `Deliveries to it have failed${since}.`;
	return (
		`The endpoint\n\n\t${url}\n\nis disabled. ${why} ` +
		'Its events are kept for 30 days; register it again to enable it.\n'
	);
}

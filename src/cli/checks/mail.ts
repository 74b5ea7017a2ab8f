import type { Config } from '#lib/server/config/config.ts';
import { ok, warn, type Finding } from './finding.ts';

/** Checks that people can get sign-in links for the developer area. Sends nothing. */
export function* checkMail({ mode, smtp, origin }: Config): Generator<Finding> {
	if (!smtp && mode === 'sandbox') yield ok('mail', 'mails are printed, not sent');
	else if (!smtp) {
		yield warn(
			'mail',
			'no mail server is configured, so nobody can sign up or reset a password in /developer',
			'set SMTP_URL and MAIL_FROM, or create links with "accounts invite"'
		);
	} else if (origin === null) {
		yield warn('mail', 'ORIGIN is not set, so no link can be mailed', 'set ORIGIN to the public address');
	} else yield ok('mail', `mails are sent through ${new URL(smtp.url).host}`);
}

import type { Mail } from '#lib/server/platform/mail.ts';

/** Writes the e-mail with a password link, for new and existing accounts. */
export function passwordLinkMail(link: { email: string; url: string; origin: string }): Mail {
	return {
		to: link.email,
		subject: 'Your Airtill password link',
		text: [
			'Open this link to choose your password and sign in:',
			'',
			link.url,
			'',
			'It works once and expires after one hour.',
			'',
			`Someone entered this address at ${link.origin}/developer. If that was not you,`,
			'ignore this e-mail: nothing changes.'
		].join('\n')
	};
}

import type { Mail } from '#lib/server/platform/mail.ts';

/** The one mail of the sign-in: for new addresses, forgotten passwords and everyone who asks. */
export function passwordLinkMail(link: { email: string; url: string; origin: string }): Mail {
	return {
		to: link.email,
		subject: 'Your link to the Airtill developer area',
		text: [
			'Open this link to choose your password and sign in:',
			'',
			link.url,
			'',
			'It works once, within one hour.',
			'',
			`Somebody typed this address at ${link.origin}/developer. If that was not you,`,
			'you need not do anything: without the link nothing changes.'
		].join('\n')
	};
}

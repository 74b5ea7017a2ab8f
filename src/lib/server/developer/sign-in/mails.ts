import type { Mail } from '#lib/server/platform/mail.ts';

export function passwordLinkMail(link: { email: string; url: string; origin: string }): Mail {
	return {
		to: link.email,
		subject: 'Sign in to the Airtill developer area',
		text: [
			'Open this link to choose your password and sign in:',
			'',
			link.url,
			'',
			'The link works once and expires after one hour.',
			'',
			`Somebody entered this email address at ${link.origin}/developer.`,
			'If that was not you, ignore this email. Nothing changes without the link.'
		].join('\n')
	};
}

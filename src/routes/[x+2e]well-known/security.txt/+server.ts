import type { RequestHandler } from './$types';

const DAY_MS = 24 * 60 * 60 * 1000;
/** RFC 9116, 2.5.5: less than a year. */
const VALID_MS = 180 * DAY_MS;

/** RFC 9116: where to report a vulnerability. The help page names the administrator's contacts. */
export const GET: RequestHandler = ({ locals: { app, origin } }) => {
	const emails = app.config.contacts.filter((contact) => contact.includes('@'));
	const expires = new Date(Math.floor(app.clock.now() / DAY_MS) * DAY_MS + VALID_MS);
	const lines = [
		...emails.map((email) => `Contact: mailto:${email}`),
		`Contact: ${origin}/help`,
		`Expires: ${expires.toISOString()}`,
		'Preferred-Languages: en',
		`Canonical: ${origin}/.well-known/security.txt`
	];
	return new Response(`${lines.join('\n')}\n`, {
		headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'max-age=86400' }
	});
};

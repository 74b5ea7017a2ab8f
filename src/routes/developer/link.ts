import { fail, type RequestEvent } from '@sveltejs/kit';
import { isEmail } from '#lib/domain/email.ts';
import { readFields } from '#lib/server/web/form.ts';
import { waitToMail } from '#lib/server/web/sign-in.ts';
import { tooOften } from './waiting.ts';

/** Why links cannot be mailed, for the page; null when they can. */
export const mailProblem = ({ locals }: RequestEvent): string | null => locals.app.signIn.mailProblem;

/** Mails a link to choose a password. The answer is the same whether the address is known here or not. */
export async function mailLink(event: RequestEvent, { isNew }: { isNew: boolean }) {
	const { signIn } = event.locals.app;
	const { field } = await readFields(event.request);
	const email = field('email').trim();
	if (!isEmail(email)) return fail(400, { email, problem: 'This is not a complete e-mail address.' });
	if (signIn.mailProblem !== null) return fail(503, { email, problem: 'Mails cannot be sent from here.' });
	const wait = await waitToMail(event, email);
	if (wait !== null) return tooOften(event, wait, { email });
	signIn.mailLink({ email, origin: event.locals.origin, isNew });
	return { email, sent: true };
}

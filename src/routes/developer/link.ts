import { fail, type RequestEvent } from '@sveltejs/kit';
import { isEmail } from '#lib/domain/email.ts';
import { readFields } from '#lib/server/web/form.ts';
import { waitToMail } from '#lib/server/web/sign-in.ts';
import { tooOften } from './waiting.ts';

/** Reason why links cannot be sent; null if they can. */
export const mailProblem = ({ locals }: RequestEvent): string | null => locals.app.signIn.mailProblem;

/** Sends a password link. The answer does not reveal whether the address is known. */
export async function mailLink(event: RequestEvent, { isNew }: { isNew: boolean }) {
	const { signIn } = event.locals.app;
	const { field } = await readFields(event.request);
	const email = field('email').trim();
	if (!isEmail(email)) return fail(400, { email, problem: 'Enter a complete email address.' });
	if (signIn.mailProblem !== null)
		return fail(503, { email, problem: 'This installation cannot send email.' });
	const wait = await waitToMail(event, email);
	if (wait !== null) return tooOften(event, wait, { email });
	signIn.mailLink({ email, origin: event.locals.origin, isNew });
	return { email, sent: true };
}

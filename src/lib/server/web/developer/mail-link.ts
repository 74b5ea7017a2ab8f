import { fail, type RequestEvent } from '@sveltejs/kit';
import { isEmail } from '#lib/domain/email.ts';
import { readFields } from '../form.ts';
import { tooManyMails, tooOften } from '../sign-in-limits.ts';

/** The response does not reveal whether the address is known. */
export async function mailLink(event: RequestEvent, { isNew }: { isNew: boolean }) {
	const { signIn } = event.locals.app;
	const { field } = await readFields(event.request);
	const email = field('email').trim();
	if (!isEmail(email)) return fail(400, { email, problem: 'Enter a complete email address.' });
	if (signIn.mailProblem !== null) {
		return fail(503, { email, problem: 'This installation cannot send email.' });
	}
	const refused =
		(await tooOften(event, 'sign-in-mail', { email })) ?? (await tooManyMails(event, email, { email }));
	if (refused) return refused;
	signIn.mailLink({ email, origin: event.locals.origin, isNew });
	return { email, sent: true };
}

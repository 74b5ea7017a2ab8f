import { fail, type RequestEvent } from '@sveltejs/kit';
import type { Author } from '../../audit.ts';
import { type Account, findAccount, findAccountByEmail } from '../../accounts/accounts.ts';
import { isEmail } from '#lib/domain/email.ts';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { sha256 } from '../../platform/secrets.ts';
import { readFields } from '../form.ts';
import { roleWords } from '../owner/roles.ts';
import { newPasswordProblem, nextPath, openNext, setPasswordByLink } from './sign-in.ts';
import { tooManyMails } from './sign-in-limits.ts';
import { acceptInvitation } from '../../accounts/staff.ts';
import {
	sendLink,
	findLinkOwner,
	findLinkInvitation,
	inviteAccount,
	findPasswordState,
	deleteInvitations
} from '../../authentication/links.ts';
import { findMailProblem } from '#lib/server/authentication/sign-in.ts';

/** The response does not reveal whether the address is known. */
export async function mailLink(event: RequestEvent, { isNew }: { isNew: boolean }) {
	const { signIn } = event.locals.app;
	const { field } = await readFields(event.request);
	const email = field('email').trim();
	if (!isEmail(email)) return fail(400, { email, problem: m.owner_email_incomplete() });
	if (findMailProblem(signIn) !== null) {
		return fail(503, { email, problem: m.owner_mail_off() });
	}
	const refused = await tooManyMails(event, email);
	if (refused) return refused;
	sendLink(signIn, { email, origin: event.locals.origin, isNew, write: writeMail() });
	return { email, sent: true };
}

/** In the language of the request. */
function writeMail(): (url: string) => { subject: string; text: string } {
	const subject = m.owner_mail_subject();
	const [open, once, ignore] = [m.owner_mail_open(), m.owner_mail_once(), m.owner_mail_ignore()];
	return (url) => ({ subject, text: [open, '', url, '', once, '', ignore].join('\n') });
}

/** Reads the address of a password link. Mail scanners open links, so GET does not use the token up. */
export async function readPasswordLink({ locals, url }: RequestEvent) {
	const token = url.searchParams.get('token') ?? '';
	const { signIn } = locals.app;
	const { invitation } = await findLinkInvitation(signIn, token);
	const employer = invitation && (await findAccount(locals.app, invitation.employer_id));
	return {
		token,
		email: await findLinkOwner(signIn, token),
		invitation:
			invitation && employer
				? m.staff_joins({ owner: apart(employer.email), role: roleWords(invitation.staff_role).name })
				: null
	};
}

/** Checks that the person has no password, or that mail does not work: with a link somebody else could sign in as the person. */
export const mayInvite = ({ locals: { app } }: RequestEvent, { hasPassword }: { hasPassword: boolean }) =>
	!hasPassword || findMailProblem(app.signIn) !== null;

/** Makes a password link to hand over. Returns null if the person has to ask for one by mail. */
export async function inviteWithoutPassword(event: RequestEvent, account: Account, author: Author) {
	const { signIn } = event.locals.app;
	const isAllowed = async () => mayInvite(event, await findPasswordState(signIn, account));
	if (!(await isAllowed())) return null;
	const link = await inviteAccount(signIn, account, author, event.locals.origin);
	if (await isAllowed()) return link;
	// The person has chosen a password since the first check.
	await deleteInvitations(signIn, account, author);
	return null;
}

/** Sets the password, signs in, and opens the first page of the account's role. */
export async function usePasswordLink(event: RequestEvent) {
	const { field } = await readFields(event.request);
	const { app } = event.locals;
	const { token, email } = await readPasswordLink(event);
	if (email === null) return fail(400, { problem: '' });
	const password = field('password');
	const problem = await newPasswordProblem(password, email);
	if (problem !== null) return fail(400, { problem });
	const { invitation } = await findLinkInvitation(app.signIn, token);
	if (invitation && !(await acceptInvitation(app, sha256(token)))) return fail(400, { problem: '' });
	const signedIn = await setPasswordByLink(event, { token, email, password });
	if (!signedIn) return fail(400, { problem: '' });
	const role = (await findAccountByEmail(app, email))?.role;
	const area = role === 'owner' || role === 'staff' ? 'owner' : 'developer';
	openNext(area, nextPath(area, role === 'admin' ? '/admin' : null), signedIn);
}

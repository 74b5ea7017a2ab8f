import { error, type RequestEvent } from '@sveltejs/kit';
import { MAX_REASON } from '#lib/domain/help.ts';
import { accountActor, accountIdOf } from '../../audit.ts';
import { noteOf, type Fields } from '../form.ts';
import { logSecurity } from '#lib/server/http/client-address.ts';
import { SIGN_IN_PATH, signedIn, type Visitor } from '../sign-in/sign-in.ts';
import { findAccount } from '../../accounts/accounts.ts';

/** Redirects to the sign-in page, or throws 403 unless the account is an active administrator. */
export async function requireAdmin(event: RequestEvent): Promise<Visitor> {
	const found = await signedIn(event, SIGN_IN_PATH, '/admin');
	const { role, status, id } = found.account;
	if (role === 'admin' && status === 'active') return found;
	const isSuspended = role === 'admin';
	const reason = isSuspended ? 'suspended' : 'not an administrator';
	logSecurity(event, 'page refused', { account: id, reason });
	if (isSuspended) error(403, 'Your account is suspended. Contact another administrator.');
	error(403, 'These pages are for administrators. Sign out, then sign in with an administrator’s account.');
}

/** Makes the load of a page, or the handler of a download: each must be made so. */
export const adminPage =
	<Event extends RequestEvent, Data>(load: (event: Event, admin: Visitor) => Data | Promise<Data>) =>
	async (event: Event): Promise<Data> =>
		load(event, await requireAdmin(event));

/** Makes a form action: each must be made so. */
export const adminForm = adminPage;

export const actorOf = ({ account }: Visitor): string => accountActor(account.id);

/** Reads the mandatory reason of a change. `problem` is null for a good one. */
export function readReason(field: Fields): { note: string; problem: string | null } {
	const note = noteOf(field);
	if (note === '') return { note, problem: 'Reason: say why. The audit log keeps it.' };
	return { note, problem: note.length > MAX_REASON ? `Reason: use at most ${MAX_REASON} characters.` : null };
}

/** Returns the email addresses of actors that are accounts. Other actors keep their names. */
export async function namesOf(
	{ locals }: RequestEvent,
	actors: readonly (string | null)[]
): Promise<(actor: string) => string> {
	const names = new Map<string, string>();
	for (const actor of new Set(actors)) {
		const id = accountIdOf(actor ?? '');
		const account = id === null ? null : await findAccount(locals.app, id);
		if (actor !== null && account) names.set(actor, account.email);
	}
	return (actor) => names.get(actor) ?? actor;
}

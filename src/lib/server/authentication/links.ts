import { randomBytes } from 'node:crypto';
import { normaliseEmail } from '#lib/domain/email.ts';
import { HOUR_MS } from '#lib/domain/time.ts';
import { type Account, type NewAccount, createAccount, findAccountByEmail } from '../accounts/accounts.ts';
import { canJoin, type Invitation, setInvitationToken, findInvitation } from '../accounts/staff.ts';
import type { Author } from '#lib/server/audit.ts';
import type { Mail } from '#lib/server/platform/mail.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';
import {
	PENDING,
	type SignIn,
	deleteLinks,
	deleteSecondFactor,
	deleteUnconfirmed,
	ensureUser,
	findUser,
	openTables
} from './sign-in.ts';

/**
 * Links by which a person sets a password: mailed on request, or handed over by an administrator; or accepts an
 * invitation to a staff. A link works once, and until it ends.
 *
 * Security: a stranger who asks for a link does not learn whether the address has an account.
 */

const MAILED_MS = HOUR_MS;
const INVITATION_MS = 24 * HOUR_MS;
const TOKEN_BYTES = 24;
const TOKEN = /^[\w-]{1,128}$/;

interface LinkRequest {
	email: string;
	origin: string;
	/** Sends to unknown addresses too. */
	isNew: boolean;
	/** Writes the mail with the link. */
	write(url: string): MailText;
}

type MailText = Pick<Mail, 'subject' | 'text'>;

/** The form in which better-auth's `resetPassword` looks a token up. */
const formatIdentifier = (token: string) => `reset-password:${token}`;

interface LinkOrder {
	userId: string;
	role: Account['role'] | undefined;
	lifeMs: number;
	/** Of the token. */
	prefix?: string;
}

/** Creates a password link. better-auth's own request can neither vary the lifetime nor return the link. */
async function createLink(state: SignIn, origin: string, { userId, role, lifeMs, prefix = '' }: LinkOrder) {
	const { internalAdapter } = await openTables(state);
	const token = prefix + randomBytes(TOKEN_BYTES).toString('base64url');
	const expiresAt = new Date(state.clock.now() + lifeMs);
	await internalAdapter.createVerificationValue({
		value: userId,
		identifier: formatIdentifier(token),
		expiresAt
	});
	// Owners and their staff choose their password in the language of their pages.
	const area = role === 'owner' || role === 'staff' ? 'owner' : 'developer';
	return `${origin}/${area}/password?token=${token}`;
}

/** Begins the token of a link that also accepts an invitation to a staff, and works only while that exists. */
const STAFF_TOKEN = 'staff-';

/** The invitation that a link accepts. `isOver`: it was withdrawn or accepted, or has another link. */
export async function findLinkInvitation(
	state: SignIn,
	token: string
): Promise<{ invitation: Invitation | null; isOver: boolean }> {
	if (!token.startsWith(STAFF_TOKEN)) return { invitation: null, isOver: false };
	const invitation = await findInvitation(state, sha256(token));
	return { invitation, isOver: invitation === null };
}

/** Sends the link of an invitation, or tells the person of the address why it cannot join. */
export const mailInvitation = (
	state: SignIn,
	invitation: Pick<Invitation, 'id' | 'email'>,
	mail: { origin: string; write(url: string): MailText; writeRefusal(): MailText }
): void =>
	inBackground(state, async () => {
		const { mailer } = state;
		const { id, email: to } = invitation;
		if (!canJoin(await findAccountByEmail(state, to))) return mailer.send({ to, ...mail.writeRefusal() });
		const { id: userId } = await ensureUser(await openTables(state), to);
		const order = { userId, role: 'staff', lifeMs: INVITATION_MS, prefix: STAFF_TOKEN } as const;
		const url = await createLink(state, mail.origin, order);
		await setInvitationToken(state, id, sha256(new URL(url).searchParams.get('token') ?? ''));
		await mailer.send({ to, ...mail.write(url) });
	});

/** Sends in the background, so that the response time does not reveal whether the address is known. */
export const sendLink = (state: SignIn, request: LinkRequest): void =>
	inBackground(state, () => mailNow(state, request));

function inBackground(state: SignIn, send: () => Promise<void>): void {
	const { running, log } = state;
	const work = send()
		.catch((error: unknown) => log.error({ err: error }, 'a sign-in link was not mailed'))
		.finally(() => running.delete(work));
	running.add(work);
}

async function mailNow(state: SignIn, { origin, isNew, write, ...request }: LinkRequest): Promise<void> {
	const { clock, mailer } = state;
	const email = normaliseEmail(request.email);
	const account = await findAccountByEmail(state, email);
	const tables = await openTables(state);
	if (isNew) await deleteUnconfirmed(tables, clock.now());
	// Accounts from the command line have no user yet.
	const user = isNew || account ? await ensureUser(tables, email) : await findUser(tables, email);
	if (!user) return;
	const link = { userId: user.id, role: account?.role, lifeMs: MAILED_MS };
	await mailer.send({ to: email, ...write(await createLink(state, origin, link)) });
}

/** Returns the email address of a link; null if it is used, expired or unknown. */
export async function findLinkOwner(state: SignIn, token: string): Promise<string | null> {
	// Excludes NUL, which PostgreSQL refuses in text.
	if (!TOKEN.test(token)) return null;
	const { internalAdapter } = await openTables(state);
	if ((await findLinkInvitation(state, token)).isOver) return null;
	const link = await internalAdapter.findVerificationValue(formatIdentifier(token));
	if (!link || link.expiresAt.getTime() <= state.clock.now()) return null;
	return (await internalAdapter.findUserById(link.value))?.email ?? null;
}

/**
 * Creates an account, with an invitation if its role does not sign up itself.
 * @returns null if the email address is taken
 */
export async function createInvitedAccount(
	state: SignIn,
	wanted: NewAccount,
	author: Author,
	origin: string
): Promise<{ account: Account; invitation: string | null } | null> {
	const account = await createAccount(state, wanted, author.by, author.note);
	if (!account) return null;
	const invitation = account.role === 'app' ? null : await inviteAccount(state, account, author, origin);
	return { account, invitation };
}

/** Returns a password link, which the administrator hands over. */
export async function inviteAccount(state: SignIn, account: Account, author: Author, origin: string) {
	const { id: userId } = await ensureUser(await openTables(state), account.email);
	const url = await createLink(state, origin, { userId, role: account.role, lifeMs: INVITATION_MS });
	// Nobody sees the link without its entry.
	await recordNote(state, 'account.invited', account, author);
	return url;
}

export async function findPasswordState(state: SignIn, { email }: Account) {
	const tables = await openTables(state);
	const { adapter, internalAdapter } = tables;
	const user = await findUser(tables, email);
	if (!user) return { hasPassword: false, hasSecondFactor: false, links: 0 };
	const [credential, links] = await Promise.all([
		internalAdapter.findCredentialAccount(user.id),
		adapter.findMany<{ identifier: string; expiresAt: Date }>({
			model: 'verification',
			where: [{ field: 'value', value: user.id }]
		})
	]);
	const isLink = ({ identifier, expiresAt }: { identifier: string; expiresAt: Date }) =>
		!identifier.startsWith(PENDING) && expiresAt.getTime() > state.clock.now();
	return {
		hasPassword: Boolean(credential?.password),
		hasSecondFactor: user.twoFactorEnabled === true,
		links: links.filter(isLink).length
	};
}

/** Ends all password links of an account, also those that were mailed. */
export async function deleteInvitations(state: SignIn, account: Account, author: Author): Promise<void> {
	const tables = await openTables(state);
	const user = await findUser(tables, account.email);
	if (!user) return;
	await deleteLinks(tables, user.id);
	await recordNote(state, 'account.invitations_deleted', account, author);
}

/** For a person whose phone is lost: ends all sign-in sessions too. Returns false if the account has no second factor. */
export async function removeSecondFactor(state: SignIn, account: Account, author: Author): Promise<boolean> {
	const tables = await openTables(state);
	const user = await findUser(tables, account.email);
	if (!user || !(await deleteSecondFactor(tables, user.id))) return false;
	await tables.internalAdapter.deleteUserSessions(user.id);
	await recordNote(state, 'account.second_factor_removed', account, author);
	return true;
}

/** Ends all sign-in sessions, and forgets the password, the second factor and the links. */
export async function forgetUser(state: SignIn, { email }: Account): Promise<void> {
	const tables = await openTables(state);
	const user = await findUser(tables, email);
	if (!user) return;
	await deleteLinks(tables, user.id);
	await tables.internalAdapter.deleteUser(user.id);
}

/** better-auth writes its tables outside our transactions, so entries have their own. */
const recordNote = (
	{ audit, database }: SignIn,
	action: 'account.invited' | 'account.invitations_deleted' | 'account.second_factor_removed',
	{ id }: Account,
	{ by, note: reason }: Author
): Promise<void> =>
	database.transact((trx) => audit.record(trx, { actor: by, action, reason, after: { account_id: id } }));

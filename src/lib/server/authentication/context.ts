import type { Base } from '#lib/server/base.ts';
import type { Mailer } from '#lib/server/platform/mail.ts';
import type { Attempts } from './attempts.ts';
import { createAuth, type Auth, type Tables } from './auth.ts';
import { connectAccount, deleteLinks } from './users.ts';

export interface SignIn extends Base {
	mailer: Mailer;
	/** Used only in a sandbox with demo data. */
	demoEmails: readonly string[];
	attempts: Attempts;
	/** better-auth, with the cookies of http and of https. */
	auths: Map<boolean, Promise<Auth>>;
	/** Mails that are being sent. */
	running: Set<Promise<void>>;
}

/** Loads better-auth on the first call. */
export function openAuth(state: SignIn, isHttps: boolean): Promise<Auth> {
	const { auths, database, log, secrets } = state;
	const known = auths.get(isHttps);
	if (known) return known;
	const made: Promise<Auth> = createAuth({
		...{ database, log, secrets, isHttps },
		async onPasswordSet(userId) {
			const tables = await (await made).$context;
			await deleteLinks(tables, userId);
			await connectAccount(state, tables, userId);
		}
	});
	auths.set(isHttps, made);
	made.catch(() => auths.delete(isHttps));
	return made;
}

/** The tables are the same for both. */
export const openTables = async (state: SignIn): Promise<Tables> =>
	(await openAuth(state, state.config.origin?.startsWith('https:') ?? false)).$context;

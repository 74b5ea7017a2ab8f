import { loginUser, passOfUser } from '#lib/domain/pass-username.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database } from '#lib/server/db/database.ts';
import { equalSecrets, hmac, sha256, type Secrets } from '#lib/server/platform/secrets.ts';
import { openPass, type OpenPass } from './pass-state.ts';
import type { PassRow, Passes } from './passes.ts';
import { addPurchase, newestSessionOf, sessionOfPurchase } from './store.ts';

/** As long as the token of a purchase. */
const TOKEN_LENGTH = 24;

export type ApiBuyers = ReturnType<typeof createApiBuyers>;

/**
 * API buyers: people who bought time through the API and have a username and password instead of a page.
 *
 * Gateways whose only page is the portal know devices alone. There the buyer signs in on the portal, and the device of
 * that captive session belongs to the pass, as if it had been bought on it. For that the pass gets a purchase of its own,
 * with a token that is derived from the pass and opens nothing else.
 */
export function createApiBuyers({
	database: { db },
	clock,
	secrets,
	passes
}: {
	database: Database;
	clock: Clock;
	secrets: Secrets;
	passes: Pick<Passes, 'passwordOf'>;
}) {
	// Part of every token: never rename.
	const key = secrets.derive('guest pass', 32);
	const tokenOf = (passId: number) => hmac(key, String(passId)).slice(0, TOKEN_LENGTH);

	const isRight = (pass: PassRow, typed: string) =>
		pass.access_kind !== 'shared_password' && equalSecrets(plain(passes.passwordOf(pass)), plain(typed));

	/** Whether a purchase belongs to an API buyer: it has no page. Its session is the first one, with the pass's id. */
	const isApiBuyer = (purchase: { token_hash: string; session_id: number | null }) =>
		purchase.session_id !== null && sha256(tokenOf(purchase.session_id)) === purchase.token_hash;

	async function passOf(tokenHash: string): Promise<OpenPass | null> {
		const id = await sessionOfPurchase(db, tokenHash);
		return id !== null && isApiBuyer({ token_hash: tokenHash, session_id: id })
			? openPass(db, id, clock.now())
			: null;
	}

	return {
		isApiBuyer,
		/**
		 * Checks a username and password typed at a router.
		 * @returns the token that binds captive sessions to the pass; null when they fit no open pass of the router, or the
		 * password is shared by all
		 */
		async signIn(routerId: number, { user, password }: { user: string; password: string }) {
			const passId = passOfUser(user);
			const open = passId === null ? null : await openPass(db, passId, clock.now(), routerId);
			const session = open && (await newestSessionOf(db, open.pass.id));
			if (!open || !session || !isRight(open.pass, password)) return null;
			const { id } = open.pass;
			const token = tokenOf(id);
			await addPurchase(db, sha256(token), { ...session, id }, clock.now());
			return token;
		},
		/** The open pass of a token from `signIn`; null otherwise. `untilMs` is null while it waits for a gateway. */
		async find(token: string) {
			const open = await passOf(sha256(token));
			const session = open && (await newestSessionOf(db, open.pass.id));
			if (!open || !session) return null;
			const { pass } = open;
			return {
				routerId: pass.router_id,
				ssid: session.ssid,
				user: loginUser(pass.id),
				password: passes.passwordOf(pass),
				untilMs: open.kind === 'runs' ? open.untilMs : null
			};
		},
		/** The end (ms since the epoch) of an API buyer's pass, by the hash of its token; null for other purchases. */
		async endOf(tokenHash: string): Promise<number | null> {
			const open = await passOf(tokenHash);
			return open?.kind === 'runs' ? open.untilMs : null;
		}
	};
}

/** Passwords have no capitals and no blanks, and their hyphens need not be typed. */
const plain = (password: string) => password.toLowerCase().replace(/[\s-]/g, '');

import { loginUser, passOfUser } from '#lib/domain/pass-username.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database } from '#lib/server/db/database.ts';
import { equalSecrets, hmac, sha256, type Secrets } from '#lib/server/platform/secrets.ts';
import type { SessionRow, Sessions } from '#lib/server/billing/sessions/sessions.ts';
import { addGuestPurchase, sessionOfPurchase } from './api-buyer-store.ts';
import { passState } from './pass-state.ts';
import * as store from '../provisioning/store.ts';

/**
 * Guests: who bought time elsewhere, through the API, and has its user name and password instead of a page of ours.
 * Gateways whose only page is ours know devices alone: there the guest signs in, and the device of that visit belongs to
 * the pass from then on, as if the purchase had been made on it. For that the pass gets a purchase of its own, whose token
 * is derived from it and opens nothing but what lets its device in.
 */
export interface Guests {
	/**
	 * @returns the token under which visits are bound to the pass; null where user name and password open none at this
	 * router now, or where everybody knows the password
	 */
	signIn(routerId: number, login: { user: string; password: string }): Promise<string | null>;
	/** The pass of a token that `signIn` gave; null where it is none, or its time is over. */
	find(token: string): Promise<GuestPass | null>;
	/** Whether a purchase is one by which a guest's visits are bound: it has no page. */
	isGuest(purchase: { token_hash: string; session_id: number | null }): boolean;
	/** When the passes of a purchase, by the hash of its token, end that are not the portal's own (epoch milliseconds). */
	endOf(tokenHash: string): Promise<number | null>;
}

export interface GuestPass {
	routerId: number;
	ssid: string;
	user: string;
	password: string;
	/** Epoch milliseconds; null while a gateway has to let the guest in first. */
	untilMs: number | null;
}

export interface GuestsParts {
	database: Database;
	clock: Clock;
	secrets: Secrets;
	sessions: Pick<Sessions, 'passwordOf'>;
}

/** As long as the token of a purchase. */
const TOKEN_LENGTH = 24;

export function createGuests({ database, clock, secrets, sessions }: GuestsParts): Guests {
	const { db } = database;
	const key = secrets.derive('guest pass', 32);
	const tokenOf = (passId: number) => hmac(key, String(passId)).slice(0, TOKEN_LENGTH);

	/** A session of a pass that is paid and not over, and the end of the pass. */
	async function openPass(passId: number, routerId: number | null) {
		const [session] = await store.openSessionsOf(db, passId);
		if (!session || (routerId !== null && session.router_id !== routerId)) return null;
		const state = await passState(db, { passId, routerId }, clock.now());
		if (state.kind === 'runs') return { session: state.session, untilMs: state.untilMs };
		return state.kind === 'waits' ? { session, untilMs: null } : null;
	}

	const isRight = (session: SessionRow, typed: string) =>
		session.access_kind !== 'shared_password' &&
		equalSecrets(plain(sessions.passwordOf(session)), plain(typed));

	const isGuest: Guests['isGuest'] = ({ token_hash: hash, session_id: id }) =>
		id !== null && sha256(tokenOf(id)) === hash;

	async function passOf(tokenHash: string): Promise<number | null> {
		const passId = await sessionOfPurchase(db, tokenHash);
		return isGuest({ token_hash: tokenHash, session_id: passId }) ? passId : null;
	}

	return {
		isGuest,
		async signIn(routerId, { user, password }) {
			const passId = passOfUser(user);
			const open = passId === null ? null : await openPass(passId, routerId);
			if (passId === null || !open || !isRight(open.session, password)) return null;
			const token = tokenOf(passId);
			await addGuestPurchase(db, sha256(token), { ...open.session, id: passId }, clock.now());
			return token;
		},
		async find(token) {
			const passId = await passOf(sha256(token));
			const open = passId === null ? null : await openPass(passId, null);
			if (passId === null || !open) return null;
			const { session, untilMs } = open;
			const { router_id: routerId, ssid } = session;
			return { routerId, ssid, user: loginUser(passId), password: sessions.passwordOf(session), untilMs };
		},
		async endOf(tokenHash) {
			const passId = await passOf(tokenHash);
			return passId === null ? null : ((await openPass(passId, null))?.untilMs ?? null);
		}
	};
}

/** Passwords have no capitals and no blanks, and nobody has to type their hyphens. */
const plain = (password: string) => password.toLowerCase().replace(/[\s-]/g, '');

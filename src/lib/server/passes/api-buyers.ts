import { dataMb } from '#lib/domain/offers.ts';
import { loginUser, passOfUser } from '#lib/domain/wifi.ts';
import type { Base } from '#lib/server/base.ts';
import { equalSecrets, hmac, sha256 } from '#lib/server/platform/secrets.ts';
import {
	addPurchase,
	newestSessionOf,
	openPass,
	type OpenPass,
	type Passes,
	type PassRow,
	sessionOfPurchase,
	ssidOf
} from './passes.ts';

const TOKEN_LENGTH = 24;

export type ApiBuyers = ReturnType<typeof createApiBuyers>;

/**
 * Signs in API buyers, who have a username and password instead of a purchase page. Some gateways know only
 * devices, and their only page is the portal. There the buyer signs in, and the device joins the pass. For
 * this the pass gets its own purchase. Its token is derived from the pass and opens nothing else.
 */
export function createApiBuyers({
	database: { db },
	clock,
	secrets,
	passes
}: Base & { passes: Pick<Passes, 'passwordOf'> }) {
	// Every token depends on this label: never rename it.
	const keys = secrets.deriveAll('guest pass', 32);
	const tokensOf = (passId: number) => keys.map((key) => hmac(key, String(passId)).slice(0, TOKEN_LENGTH));

	const isRight = (pass: PassRow, typed: string) =>
		pass.access_kind !== 'shared_password' && equalSecrets(plain(passes.passwordOf(pass)), plain(typed));

	/** API buyers have no page. The purchase's session is the first of the pass, so it has the pass's id. */
	const isApiBuyer = (purchase: { token_hash: string; session_id: number | null }) =>
		purchase.session_id !== null &&
		tokensOf(purchase.session_id).some((token) => sha256(token) === purchase.token_hash);

	async function passOf(tokenHash: string): Promise<OpenPass | null> {
		const id = await sessionOfPurchase(db, tokenHash);
		return id !== null && isApiBuyer({ token_hash: tokenHash, session_id: id })
			? openPass(db, id, clock.now())
			: null;
	}

	return {
		isApiBuyer,
		/**
		 * Returns the token that binds captive sessions to the pass. Returns null without a matching open
		 * pass, and for shared passwords.
		 */
		async signIn(routerId: number, { user, password }: { user: string; password: string }) {
			const passId = passOfUser(user);
			const open = passId === null ? null : await openPass(db, passId, clock.now(), routerId);
			const session = open && (await newestSessionOf(db, open.pass.id));
			if (!open || !session || !isRight(open.pass, password)) return null;
			const { id } = open.pass;
			const [token = ''] = tokensOf(id);
			await addPurchase(db, sha256(token), { ...session, id }, clock.now());
			return token;
		},
		/** Finds the open pass of a token from `signIn`. `untilMs` is null while it waits for a gateway. */
		async find(token: string) {
			const open = await passOf(sha256(token));
			if (!open) return null;
			const { pass } = open;
			const { data_limit_mb: limitMb } = pass;
			return {
				routerId: pass.router_id,
				ssid: await ssidOf(db, pass.router_id),
				user: loginUser(pass.id),
				password: passes.passwordOf(pass),
				untilMs: open.kind === 'runs' ? open.untilMs : null,
				data: limitMb === null ? null : { limitMb, leftMb: dataMb(pass).leftMb }
			};
		},
		/** Returns the end of an API buyer's running pass (ms since the epoch) and its data, or null. */
		async leftOf(tokenHash: string): Promise<{ untilMs: number; leftMb: number | null } | null> {
			const open = await passOf(tokenHash);
			return open?.kind === 'runs' ? { untilMs: open.untilMs, leftMb: dataMb(open.pass).leftMb } : null;
		}
	};
}

/** Bought passwords have no capitals or spaces, and buyers may omit the hyphens. */
const plain = (password: string) => password.toLowerCase().replace(/[\s-]/g, '');

import { setTimeout as sleep } from 'node:timers/promises';
import type { Base } from '../../base.ts';
import type { Clock } from '../../platform/clock.ts';

/**
 * The tokens with which operators take requests. With M-Pesa a new token ends the one before (FAQ of Daraja's portal), so
 * the processes of an installation, and its commands, share tokens in the database, and one at a time asks for a new one.
 */

export type TokenOutcome = { kind: 'token'; value: string; expiresInSeconds: number } | NoToken;

export type NoToken =
	/** The operator refused the credentials. */
	| { kind: 'refused'; status: number; text: string }
	/** No token was available; the credentials may be right. */
	| { kind: 'unavailable'; cause: string };

type UsableToken = Pick<Extract<TokenOutcome, { kind: 'token' }>, 'kind' | 'value'>;

interface HeldToken {
	value: string;
	/** When to renew it. */
	until: number;
}

/** Renews tokens this long before expiry, or a fifth of their life if that is shorter (some live 180 s). */
const MARGIN_MS = 60_000;
const MARGIN_SHARE = 0.2;
/** After it the next process asks, too: the one before may have died. */
const CLAIM_MS = 10_000;
/** A claim, and the answer to the next one. A payment waits meanwhile. */
const WAIT_MS = 15_000;
const LOOK_AGAIN_MS = 200;
/** Before the first token. */
const NONE = { token_sealed: '', valid_until: 0 };

export type SharedTokens = ReturnType<typeof createSharedTokens>;

/** The tokens of all processes. A name stands for an operator and the credentials of a token. */
export function createSharedTokens({ database: { db }, clock, secrets, log }: Base) {
	const seal = (name: string) => `operator token:${name}`;
	/** The process has a token of its own then. */
	const warn = (error: unknown) => log.warn({ err: error }, 'the token of an operator is not shared');

	/** Returns null for a token of another secret. */
	function open(sealed: string, name: string): string | null {
		return secrets.keyIndex(sealed, seal(name)) < 0 ? null : secrets.decrypt(sealed, seal(name));
	}

	const find = (name: string) =>
		db
			.selectFrom('operator_tokens')
			.select(['token_sealed', 'valid_until'])
			.where('name', '=', name)
			.executeTakeFirst();

	/** Returns true for one of those who found the same token and claim within ten seconds. */
	async function claim(name: string, found: string): Promise<boolean> {
		const now = clock.now();
		const claimed_until = now + CLAIM_MS;
		const claimed = await db
			.insertInto('operator_tokens')
			.values({ name, claimed_until })
			.onConflict((conflict) =>
				conflict
					.column('name')
					.doUpdateSet({ claimed_until })
					.where('operator_tokens.token_sealed', '=', found)
					// One that is still later is of a process whose clock was far ahead.
					.where(({ not, between }) =>
						not(between('operator_tokens.claimed_until', now, claimed_until + CLAIM_MS))
					)
			)
			.returning('name')
			.executeTakeFirst();
		return claimed !== undefined;
	}

	async function findOrClaim(name: string, ended: string | null): Promise<HeldToken | null> {
		const since = performance.now();
		for (;;) {
			const { token_sealed: found, valid_until: until } = (await find(name)) ?? NONE;
			const value = clock.now() < until ? open(found, name) : null;
			if (value !== null && value !== ended) return { value, until };
			if ((await claim(name, found)) || performance.now() - since > WAIT_MS) return null;
			await sleep(LOOK_AGAIN_MS);
		}
	}

	async function keep(name: string, token: HeldToken | null): Promise<void> {
		const kept = token && {
			token_sealed: secrets.encrypt(token.value, seal(name)),
			valid_until: token.until
		};
		await db
			.updateTable('operator_tokens')
			.set({ claimed_until: 0, ...kept })
			.where('name', '=', name)
			.execute();
	}

	return {
		/**
		 * Waits for another process that asks.
		 * @returns its token, unless it is `ended`; null if this process asks, or cannot find out
		 */
		findOrClaim: (name: string, ended: string | null) =>
			findOrClaim(name, ended).catch((error: unknown) => {
				warn(error);
				return null;
			}),
		/** @param token null if there was none */
		keep: (name: string, token: HeldToken | null) => keep(name, token).catch(warn)
	};
}

/**
 * Caches a token. Callers share one request.
 * @param shared where processes share it under a name; null for none. Without its database each asks for itself
 */
export function createTokens(
	clock: Clock,
	ask: () => Promise<TokenOutcome>,
	shared: { tokens: SharedTokens; name: string } | null = null
) {
	let held: HeldToken | null = null;
	let ended: string | null = null;
	let renewing: Promise<UsableToken | NoToken> | null = null;

	async function renew(): Promise<UsableToken | NoToken> {
		held = (await shared?.tokens.findOrClaim(shared.name, ended)) ?? null;
		if (held) return { kind: 'token', value: held.value };
		const from = clock.now();
		const token = await ask();
		if (token.kind === 'token') {
			const life = token.expiresInSeconds * 1000;
			held = { value: token.value, until: from + life - Math.min(MARGIN_MS, life * MARGIN_SHARE) };
		}
		await shared?.tokens.keep(shared.name, held);
		return token;
	}

	return {
		async get(): Promise<UsableToken | NoToken> {
			if (held && clock.now() < held.until) return { kind: 'token', value: held.value };
			return (renewing ??= renew().finally(() => (renewing = null)));
		},
		/** Drops a refused token unless it was replaced. */
		drop(value: string) {
			if (held?.value !== value) return;
			ended = value;
			held = null;
		}
	};
}

import { lockName } from '#lib/server/db/locks.ts';
import { normaliseEmail } from '#lib/domain/email.ts';
import { HOUR_MS, MINUTE_MS } from '#lib/domain/time.ts';
import type { Base } from '#lib/server/base.ts';
import { randomBytes } from 'node:crypto';
import type { Tx } from '#lib/server/db/database.ts';
import { equalSecrets, hmac, sha256 } from '#lib/server/platform/secrets.ts';

/**
 * Slows down password guessing. After some failures every further one doubles the wait. A browser that has signed in to
 * the account keeps a token and is counted alone, so that strangers cannot lock its owner out. All other browsers are
 * counted by network, and together, so that many networks cannot guess for ever. A link by mail is never held up.
 */
export interface Attempt {
	email: string;
	/** The code of the second factor counts alone: who has only guessed passwords cannot hold it up. */
	step: 'password' | 'code';
	/** IP address, or the /64 of an IPv6 address. */
	network: string;
	/** The browser's token; null if it has none. */
	token: string | null;
}

interface Limit {
	subject: string;
	/** Failures before the first wait. */
	free: number;
	longestMs: number;
}

/** Longer than any wait. */
const FORGET_MS = 24 * HOUR_MS;
const SOURCE = { free: 5, longestMs: 12 * HOUR_MS };
const ALL_SOURCES = { free: 50, longestMs: HOUR_MS };
const TOKEN_ID_BYTES = 16;
const MAC_KEY_BYTES = 32;

export type Attempts = ReturnType<typeof createAttempts>;

export function createAttempts({ database, clock, secrets }: Base) {
	const key = secrets.derive('known-browser', MAC_KEY_BYTES);
	const sign = (id: string, { email, step }: Pick<Attempt, 'email' | 'step'>) =>
		`${id}.${hmac(key, `${id}:${step === 'code' ? 'code:' : ''}${normaliseEmail(email)}`)}`;
	/** A browser that has given a code is known for the password too, but not the other way round. */
	const isKnown = ({ token, email, step }: Attempt) =>
		token !== null &&
		[step, 'code' as const].some((one) =>
			equalSecrets(token, sign(token.split('.')[0] ?? '', { email, step: one }))
		);
	const limitsOf = (attempt: Attempt): Limit[] =>
		isKnown(attempt)
			? [{ ...SOURCE, subject: hashSubject(attempt, `browser:${attempt.token}`) }]
			: [
					{ ...SOURCE, subject: hashSubject(attempt, `network:${attempt.network}`) },
					{ ...ALL_SOURCES, subject: hashSubject(attempt, 'all') }
				];
	return {
		isKnown,
		/**
		 * Counts the attempt as failed, before its password is checked: attempts at the same moment count too.
		 * Returns the milliseconds to wait, and counts nothing, if it comes too soon; otherwise 0.
		 */
		async begin(attempt: Attempt): Promise<number> {
			const now = clock.now();
			const limits = limitsOf(attempt);
			const forgotten = database.db.deleteFrom('failed_sign_ins').where('failed_at', '<=', now - FORGET_MS);
			await forgotten.execute();
			return database.transact(async (trx) => {
				await lockName(trx, ...limits.map(({ subject }) => `sign-ins of ${subject}`));
				const waits = [];
				for (const limit of limits) waits.push(await computeWaitMs(trx, limit, now));
				const wait = Math.max(...waits);
				if (wait === 0) for (const { subject } of limits) await countFailure(trx, subject, now);
				return wait;
			});
		},
		/** Takes an attempt with the right password back, which still needs the code. */
		takeBack: (attempt: Attempt): Promise<void> =>
			database.transact(async (trx) => {
				for (const { subject } of limitsOf(attempt)) await uncountFailure(trx, subject);
			}),
		/** Takes the attempt back, and forgets the failures of its browser or network. Returns the token for the browser. */
		async succeeded(attempt: Attempt): Promise<string> {
			const [, all] = limitsOf(attempt);
			await database.transact(async (trx) => {
				for (const step of ['password', attempt.step] as const) {
					const [source] = limitsOf({ ...attempt, step });
					if (source) await trx.deleteFrom('failed_sign_ins').where('subject', '=', source.subject).execute();
				}
				if (all) await uncountFailure(trx, all.subject);
			});
			if (attempt.token !== null && isKnown(attempt)) return attempt.token;
			return sign(randomBytes(TOKEN_ID_BYTES).toString('base64url'), attempt);
		}
	};
}

const hashSubject = ({ email, step }: Attempt, source: string) =>
	sha256(`${step === 'code' ? 'code:' : ''}${source}:${normaliseEmail(email)}`);

async function computeWaitMs(trx: Tx, { subject, free, longestMs }: Limit, now: number): Promise<number> {
	const row = await trx
		.selectFrom('failed_sign_ins')
		.select(['failures', 'failed_at'])
		.where('subject', '=', subject)
		.executeTakeFirst();
	if (!row || row.failures < free) return 0;
	const wait = Math.min(MINUTE_MS * 2 ** (row.failures - free), longestMs);
	return Math.max(0, row.failed_at + wait - now);
}

const countFailure = (trx: Tx, subject: string, now: number) =>
	trx
		.insertInto('failed_sign_ins')
		.values({ subject, failures: 1, failed_at: now })
		.onConflict((conflict) =>
			conflict
				.column('subject')
				.doUpdateSet((row) => ({ failures: row('failed_sign_ins.failures', '+', 1), failed_at: now }))
		)
		.execute();

const uncountFailure = (trx: Tx, subject: string) =>
	trx
		.updateTable('failed_sign_ins')
		.set((row) => ({ failures: row('failures', '-', 1) }))
		.where('subject', '=', subject)
		.where('failures', '>', 0)
		.execute();

/** Requests that are counted, and what their answers say of the limit. */
import { SCHEMA } from '../database/postgres.ts';
import type { Sql } from '../database/sql.ts';
import type { Answer, Api } from './api.ts';
import { LIMIT_HEADERS } from './contract-assertions.ts';

/** Empty is unset: what counts is what the configuration says when nobody sets anything. */
export const DEFAULTS = { RATE_LIMIT_DEFAULT: '', RATE_LIMIT_ENTERPRISE: '' };

export const limitsOf = ({ headers }: Answer) => LIMIT_HEADERS.map((name) => headers.get(name));
export const remaining = ({ headers }: Answer) => Number(headers.get('x-ratelimit-remaining'));

/** So many requests, `atOnce` of them under way at a time; the answers in the order of asking. */
export async function ask(
	apis: Api[],
	count: number,
	path = '/v1/routers/1',
	atOnce = 25
): Promise<Answer[]> {
	const answers: Answer[] = [];
	let asked = 0;
	await Promise.all(
		Array.from({ length: atOnce }, async () => {
			while (asked < count) {
				const index = asked;
				asked += 1;
				const api = apis[index % apis.length];
				if (!api) throw new Error('no callers');
				answers[index] = await api.send('GET', path);
			}
		})
	);
	return answers;
}

export const admitted = (answers: Answer[]) => answers.filter(({ status }) => status !== 429).length;

/**
 * Puts a function in front of PostgreSQL's, whose clock the limits go by, for connections from now on.
 * @returns lets time pass for it
 */
export async function moveClock(sql: Sql): Promise<(ms: number) => Promise<void>> {
	const commands = [
		'create table moved_clock (ms bigint not null)',
		'insert into moved_clock values (0)',
		`create function ${SCHEMA}.clock_timestamp() returns timestamptz language sql volatile as
			'select pg_catalog.clock_timestamp() + make_interval(secs => ms / 1000.0) from moved_clock'`,
		`do $$ begin execute format('alter database %I set search_path = ${SCHEMA}, pg_catalog',
			current_database()); end $$`
	];
	for (const command of commands) await sql.run(command);
	return (ms) => sql.run('update moved_clock set ms = ms + ?', ms);
}

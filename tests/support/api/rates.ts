/** Requests that are counted, and what their answers say of the limit. */
import type { Answer, Api } from './api.ts';

/** Empty is unset: what counts is what the configuration says when nobody sets anything. */
export const DEFAULTS = { RATE_LIMIT_DEFAULT: '', RATE_LIMIT_ENTERPRISE: '' };

const LIMIT_HEADERS = [
	'ratelimit-policy',
	'ratelimit',
	'x-ratelimit-limit',
	'x-ratelimit-remaining',
	'x-ratelimit-reset'
];

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

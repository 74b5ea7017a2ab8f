/** The short code of a purchase: what it opens, and how often it may be tried. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { numberEnding } from '../../../support/api/api.ts';
import { useFixture } from '../../../support/server/fixture.ts';
import { purchaseToken } from '../../../../src/lib/server/platform/secrets.ts';
import { api, HOUR, newPurchases, purchases, usePurchases } from './in-process.ts';
import { resumeByCode } from '../../../../src/lib/server/portal/resume.ts';
import { buyTime, continuePurchase } from '../../../../src/lib/server/portal/ordering.ts';

const visitor = (network: string, captiveSession: string | null = null) => ({ network, captiveSession });

const fixture = useFixture({ database: 'sqlite' });
usePurchases(fixture);

describe('the short code', () => {
	const buy = async () => {
		const token = await buyTime(purchases, api, purchaseToken(), {
			...HOUR,
			phone: numberEnding('003')
		});
		const found = await continuePurchase(purchases, api, token);
		return { token, code: found?.code ?? '' };
	};
	const row = async (token: string) => {
		const [found] = await fixture().sql.all(
			'select * from purchases where token_hash = ?',
			createHash('sha256').update(token).digest('hex')
		);
		return found ?? {};
	};

	it('opens the purchase however it is typed, and neither it nor the token is in the database', async () => {
		const { token, code } = await buy();
		expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/);
		const stored = JSON.stringify(await row(token));
		for (const secret of [token, code, code.replace('-', '')]) expect(stored).not.toContain(secret);
		const typed = ` ${code.toLowerCase().replace('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')}`;
		expect(await resumeByCode(purchases, api, { code: typed, phone: '' }, visitor('one'))).toEqual({
			kind: 'found',
			token
		});
	});

	it('is created for an older purchase when it is next opened', async () => {
		const { token, code } = await buy();
		await fixture().sql.run(
			'update purchases set code_hash = null, token_sealed = null where session_id = ?',
			Number((await row(token))['session_id'])
		);
		expect((await continuePurchase(purchases, api, token))?.code).toBe(code);
		expect(await resumeByCode(purchases, api, { code, phone: '' }, visitor('two'))).toEqual({
			kind: 'found',
			token
		});
	});

	it('differs if another purchase has the same code', async () => {
		const { token, code } = await buy();
		const other = await buy();
		const taken = (await row(token))['code_hash'];
		await fixture().sql.run('update purchases set code_hash = null where code_hash = ?', String(taken));
		await fixture().sql.run(
			'update purchases set code_hash = ? where session_id = ?',
			String(taken),
			Number((await row(other.token))['session_id'])
		);
		const second = (await continuePurchase(purchases, api, token))?.code ?? '';
		expect(second).not.toBe(code);
		expect(await resumeByCode(purchases, api, { code: second, phone: '' }, visitor('three'))).toEqual({
			kind: 'found',
			token
		});
	});

	it('does not open a purchase without changes for 60 days', async () => {
		const { token, code } = await buy();
		const day = 24 * 60 * 60 * 1000;
		const age = (days: number) =>
			fixture().sql.run(
				'update purchases set updated_at = ? where code_hash = ?',
				Date.now() - days * day,
				hash
			);
		const hash = String((await row(token))['code_hash']);
		await age(59);
		expect(await resumeByCode(purchases, api, { code, phone: '' }, visitor('four'))).toEqual({
			kind: 'found',
			token
		});
		await age(61);
		expect(await resumeByCode(purchases, api, { code, phone: '' }, visitor('four'))).toEqual({
			kind: 'unknown'
		});
	});

	it('has a limit of tries per network, per captive session and in total', async () => {
		const limited = newPurchases();
		const guess = { code: 'ZZZZ-ZZZZ', phone: '' };
		const kinds = async (network: string, times: number, captiveSession: string | null = null) => {
			const tries = [];
			for (let count = 0; count < times; count += 1) {
				tries.push((await resumeByCode(limited, api, guess, visitor(network, captiveSession))).kind);
			}
			return tries;
		};
		// What cannot be a code costs nothing.
		expect((await resumeByCode(limited, api, { code: 'hello', phone: '' }, visitor('guesser'))).kind).toBe(
			'unknown'
		);
		const ten = Array<string>(10).fill('unknown');
		// Beyond that a code asks for the number that paid, too.
		for (const network of ['one', 'two', 'three', 'four', 'five']) {
			expect(await kinds(network, 11)).toEqual([...ten, 'crowded']);
		}
		expect(await kinds('six', 10, 'captive session')).toEqual(ten);
		expect(await kinds('seven', 2)).toEqual(['crowded', 'crowded']);
	});

	it('has half of all tries for the captive sessions of one network', async () => {
		const limited = newPurchases();
		const kindOf = async (captiveSession: string) =>
			(await resumeByCode(limited, api, { code: 'ZZZZ-ZZZZ', phone: '' }, visitor('venue', captiveSession)))
				.kind;
		for (const id of ['a', 'b', 'c']) {
			for (let count = 0; count < 10; count += 1) expect(await kindOf(id)).toBe('unknown');
			expect(await kindOf(id)).toBe('crowded');
		}
		expect(await kindOf('d')).toBe('crowded');
	});
});

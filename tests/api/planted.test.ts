/** Secrets and full phone numbers are planted wherever they may pass, and then looked for in what the server writes. */
import { describe, expect, it } from 'vitest';
import { generateKey } from '../../src/lib/server/api-keys/key-format.ts';
import { numberEnding, orderOf } from '../support/api.ts';
import { DATABASES, useWorld } from '../support/world.ts';

/** All endings that decide what the sandbox operator does, and one that does not. */
const ENDINGS = ['001', '002', '003', '004', '005', '006', '007', '008', '009', '123'];

describe.each(DATABASES)('on %s', (database) => {
	const world = useWorld({ database, env: { AIRTILL_LOG_LEVEL: 'debug' } });

	it('no secret, password or full phone number is in the log, not even when the database fails', async () => {
		const { api, sql, server, newKey, nobody } = world();
		const numbers = ENDINGS.map((ending) => numberEnding(ending));
		const secrets: string[] = [];

		for (const phone of numbers) {
			const session = await api.createSession({ phone });
			await api.pay(session);
		}
		const { session } = await world().buy();
		if (session.password === null) throw new Error('There is no password to look for');
		secrets.push(session.password);
		numbers.push(session.phone);
		await server.advance(24 * 60 * 60 * 1000);

		for (const options of [{ revokedAt: 1 }, { expiresAt: 1 }, { status: 'suspended' as const }, {}]) {
			const { key, api: caller } = await newKey(options);
			secrets.push(key);
			await caller.send('GET', '/v1/sessions/1');
			await nobody.send('GET', `/v1/sessions?api_key=${key}`);
		}
		const unknown = generateKey('test');
		secrets.push(unknown);
		for (const authorization of [`Bearer ${unknown}`, unknown, `Basic ${unknown}`]) {
			await nobody.send('GET', `/v1/${unknown}`, { headers: { authorization } });
		}

		const viaPage = numberEnding('003');
		numbers.push(viaPage);
		const page = await fetch(`${server.url}/r/3`, {
			method: 'POST',
			redirect: 'manual',
			headers: { origin: server.url, 'content-type': 'application/x-www-form-urlencoded' },
			body: new URLSearchParams({ phone: viaPage, duration: '1h', payment_method: 'mobile_money' })
		});
		await page.arrayBuffer();
		expect(page.status).toBeLessThan(500);

		// A constraint that no code knows: the failed statement's row is in PostgreSQL's error.
		const failing = numberEnding('123');
		numbers.push(failing);
		await refusePhone(failing);
		await api.refused('500 internal_error', 'POST', '/v1/sessions', { body: orderOf({ phone: failing }) });

		const written = server.stdout() + server.stderr();
		expect(written).toContain('request failed');
		for (const phone of numbers) {
			for (const form of [phone, phone.slice(1), `0${phone.slice(4)}`, encodeURIComponent(phone)]) {
				expect(written.includes(form), `${form} was written`).toBe(false);
			}
		}
		for (const secret of secrets) expect(written.includes(secret), `${secret} was written`).toBe(false);

		async function refusePhone(phone: string): Promise<void> {
			if (database === 'postgres') {
				await sql.run(`alter table sessions add constraint planted check (phone <> '${phone}')`);
			} else {
				await sql.run(`create trigger planted before insert on sessions when new.phone = '${phone}'
					begin select raise(abort, 'planted ${phone}'); end`);
			}
		}
	});
});

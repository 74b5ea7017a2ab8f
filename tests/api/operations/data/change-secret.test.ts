/** AIRTILL_SECRET changes: the secret from before still opens what it sealed, and nothing else starts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { numberEnding, orderOf } from '../../../support/api/api.ts';
import { startReceiver, type Receiver } from '../../../support/api/receiver.ts';
import { arrived, INSECURE, register, verified, type Registered } from '../../../support/api/webhooks.ts';
import { registerGateway } from '../../../support/gateways/gateways.ts';
import { browse, demoPassword, signInAs } from '../../../support/pages/browsing.ts';
import { buyAt, shownCode } from '../../../support/pages/purchase.ts';
import { setUpSecondFactor } from '../../../support/pages/second-factor.ts';
import { cli } from '../../../support/server/cli.ts';
import { DATABASES, SECRET, useFixture } from '../../../support/server/fixture.ts';

const NEW_SECRET = 'the new secret of this test, long enough';

describe.each(DATABASES)('changing the secret on %s', (database) => {
	const fixture = useFixture({ database, env: INSECURE });
	let receiver: Receiver;
	let endpoint: Registered;

	beforeAll(async () => {
		receiver = await startReceiver();
	});
	afterAll(async () => {
		await receiver?.stop();
	});

	const restart = (changes: Record<string, string>) => {
		Object.assign(fixture().server.env, changes);
		return fixture().server.restart();
	};

	it('keeps passwords, codes, keys, answers, webhooks and gateways', async () => {
		const { server, api } = fixture();
		endpoint = await register(api, `${receiver.url}/hook`, ['session.activated']);
		const { session } = await fixture().buy();
		await arrived(receiver, '/hook');
		const network = { access: 'shared_password wpa', from: 'wpa_personal_per_client wpa' };
		const owner = await signInAs(server, 'owner');
		const password5 = { ...network, password: 'the password of the network' };
		expect((await owner.post('/owner/routers/5/edit?/access', password5)).path).toBe('/owner/routers/5?done=access');
		const { portal, name } = await registerGateway(server, 'mikrotik-pap', { loginHost: '10.5.50.1', router: 4 });
		const visit = `${portal}?link-login-only=${encodeURIComponent('http://10.5.50.1/login')}&mac=02:00:5E:10:00:01`;
		expect((await fetch(visit)).status).toBe(200);
		const order = { body: orderOf({ phone: numberEnding('008') }), headers: { 'idempotency-key': 'once' } };
		const answered = await api.send('POST', '/v1/sessions', order);
		expect(answered.status).toBe(201);
		const page = await buyAt(server.url, '/r/3', numberEnding('003'));
		const code = shownCode(await (await fetch(server.url + page)).text()) ?? '';
		expect(code).not.toBe('');
		const email = 'owner@airtill.example';
		const password = demoPassword(server, email);
		const { app, codes } = await setUpSecondFactor(server, await signInAs(server, 'owner'), password);
		const signsIn = async (code: string) => {
			const person = browse(server.url);
			const { path: asked } = await person.post('/owner/sign-in', { email, password });
			expect((await person.post(asked, { code })).path).toBe('/owner');
		};
		const showsTheSame = async () => {
			expect((await api.getSession(session.id)).password).toBe(session.password);
			expect(await api.send('POST', '/v1/sessions', order)).toMatchObject({ body: answered.body });
			const resumed = await fetch(`${server.url}/resume?code=${code}`, { redirect: 'manual' });
			expect(resumed.headers.get('location')).toBe(page);
			expect(await (await fetch(server.url + page)).text()).toContain(code);
			// The portal has a key of its own, by the secret.
			expect((await fetch(`${server.url}/r/4`)).status).toBe(200);
		};

		await restart({ AIRTILL_SECRET: NEW_SECRET, AIRTILL_SECRET_FALLBACK: SECRET });
		await showsTheSame();
		await signsIn(app.code());
		await signsIn(codes[0] ?? '');
		expect((await cli(['doctor'], server)).stdout).toMatch(/^ok secret: /m);
		const count = receiver.at('/hook').length;
		await fixture().buy();
		verified((await arrived(receiver, '/hook', count + 1)).at(-1), endpoint.secret);
		expect((await cli(['gateways', 'show', name], server)).stdout).toContain(new URL(portal).pathname);
	}, 120_000);

	it('does not start with another secret while bought time runs, unless told that the old one is lost', async () => {
		const { api } = fixture();
		const { session } = await fixture().buy();
		const other = { AIRTILL_SECRET: 'another secret, which nobody has used', AIRTILL_SECRET_FALLBACK: '' };
		await expect(restart(other)).rejects.toThrow(
			/^- AIRTILL_SECRET: does not open the Wi-Fi passwords of buyers whose time runs/m
		);
		// Nor without the one from before the change.
		const early = restart({ AIRTILL_SECRET: NEW_SECRET });
		await expect(early).rejects.toThrow(/^- AIRTILL_SECRET: does not open/m);
		await restart({ AIRTILL_SECRET_FALLBACK: SECRET });
		expect((await api.getSession(session.id)).password).toBe(session.password);
		await restart({ ...other, AIRTILL_SECRET_FALLBACK: 'the old one is lost, we go on without' });
		expect((await fixture().buy()).session).toMatchObject({ status: 'active' });
		expect((await fetch(`${fixture().server.url}/r/4`)).status).toBe(200);
	});
});

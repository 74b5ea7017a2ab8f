/** Passwords, links and cookies of the developer area are planted, and looked for in the log and in refused forms. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browse, mailedLink, PASSWORD, triesForgotten } from '../../support/pages/browsing.ts';
import { freePort } from '../../support/server/ports.ts';
import { startMailServer, type MailServer } from '../../support/server/smtp.ts';
import {
	DATABASES,
	eventually,
	startFixture,
	useFixture,
	type Fixture
} from '../../support/server/fixture.ts';

const TYPED = {
	wrong: 'planted wrong password 1',
	next: 'planted next password 2',
	short: 'plantedShrt',
	current: 'planted current password 3'
};

const tokenOf = (link: string) => new URL(link, 'http://airtill.invalid').searchParams.get('token') ?? '';

/** The log is standard error; standard output has a sandbox's mails and demo sign-ins, by design. */
function expectNone(text: string, planted: readonly string[]): void {
	for (const secret of planted) {
		expect(secret.length).toBeGreaterThan(10);
		for (const form of [secret, encodeURIComponent(secret)]) {
			expect(text.includes(form), `${form} was written`).toBe(false);
		}
	}
}

/** Makes every change of a table fail, with what it was to write in the error's own message. */
async function failWrites(
	{ sql, server }: Fixture,
	table: string,
	event: string,
	values: string
): Promise<void> {
	if (server.databaseUrl.startsWith('file:')) {
		const text = values.replaceAll("'", "''");
		await sql.run(`create trigger planted before ${event} on ${table}
			begin select raise(abort, 'planted: ${text}'); end`);
		return;
	}
	await sql.run(`create function planted() returns trigger language plpgsql
		as $$ begin raise exception 'planted: %', $text$${values}$text$; end $$`);
	await sql.run(`create trigger planted before ${event} on ${table} for each row execute function planted()`);
}

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database, env: { AIRTILL_LOG_LEVEL: 'debug' } });

	it('no password, link or cookie of a sign-in is in the log or in a form that is refused, though the database fails', async () => {
		const { server, sql } = fixture();
		const email = 'planted@people.example';
		const person = browse(server.url);
		await person.post('/developer/sign-up', { email });
		const link = await mailedLink(server, email);
		const short = await person.post(link, { password: TYPED.short });
		expect(short.status).toBe(400);
		await person.post(link, { password: PASSWORD });
		const planted = [PASSWORD, ...Object.values(TYPED), tokenOf(link), ...person.cookies.values()];
		const refused = [short.html];

		await triesForgotten(fixture());
		const stranger = browse(server.url);
		const wrong = await stranger.post('/developer/sign-in', { email, password: TYPED.wrong });
		refused.push(wrong.html);
		const changed = await person.post('/developer/account?/password', {
			current: TYPED.current,
			wanted: TYPED.next
		});
		expect(changed.status).toBe(400);
		refused.push(changed.html);
		expectNone(refused.join('\n'), planted);

		// What the database says of its own may hold what it was to write.
		await failWrites(
			fixture(),
			'sign_in_sessions',
			'insert',
			`token=${tokenOf(link)} {"password":"${TYPED.wrong}"} airtill.session_token=${[...person.cookies.values()].join()}`
		);
		await triesForgotten(fixture());
		const failed = await stranger.post('/developer/sign-in', { email, password: PASSWORD });
		expect(failed.status).toBe(500);
		expectNone(failed.html, planted);
		await eventually('it is in the log', async () => server.stderr().includes('planted: '));
		expect(server.stderr()).toContain('page failed');
		expectNone(server.stderr(), planted);
		const calls = JSON.stringify(await sql.all('select * from request_log'));
		expectNone(calls, planted);
	});
});

describe('with a mail server', () => {
	let mailServer: MailServer;
	let fixture: Fixture;
	beforeAll(async () => {
		mailServer = await startMailServer();
		const port = await freePort();
		fixture = await startFixture({
			port,
			env: {
				AIRTILL_LOG_LEVEL: 'debug',
				ORIGIN: `http://127.0.0.1:${port}`,
				SMTP_URL: `smtp://planted-user:planted-smtp-password@127.0.0.1:${mailServer.port}`,
				MAIL_FROM: 'till@airtill.example'
			}
		});
	});
	afterAll(async () => {
		await fixture.stop();
		await mailServer.stop();
	});

	it('a mail and its link are nowhere else, even when the mail server refuses it and quotes it', async () => {
		const { server } = fixture;
		const person = browse(server.url);
		const linkIn = (index: number) =>
			/https?:\S+\/developer\/password\?token=\S+/.exec(mailServer.mails()[index] ?? '')?.[0];
		await person.post('/developer/sign-up', { email: 'first@people.example' });
		const first = await eventually('the mail', async () => linkIn(0));
		mailServer.refuse();
		await person.post('/developer/sign-up', { email: 'second@people.example' });
		const second = await eventually('the second mail', async () => linkIn(1));
		await eventually('the refusal is logged', async () => server.stderr().includes('not mailed'));
		expect(server.stderr()).toContain('554 5.7.1 refused');
		expect(new URL(first).pathname).toBe('/developer/password');
		const planted = [first, second, tokenOf(first), tokenOf(second), 'planted-smtp-password'];
		expectNone(server.stdout() + server.stderr(), planted);
		expectNone(server.stdout() + server.stderr(), ['Open this link to choose your password']);
	});
});

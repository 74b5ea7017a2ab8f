/** An owner gets a password by an invitation or a mailed link, in the language of the pages. */
import { expect, it } from 'vitest';
import { browse, mailedLink, PASSWORD } from '../../support/pages/browsing.ts';
import { DATABASES, useFixture } from '../../support/server/fixture.ts';
import { cli } from '../../support/server/cli.ts';

const fixture = useFixture({ database: DATABASES[0] });
const person = () => browse(fixture().server.url);

async function createAccount(email: string, role: string): Promise<{ invitation?: string }> {
	const { code, stdout } = await cli(
		['accounts', 'create', '--email', email, '--role', role],
		fixture().server
	);
	expect(code).toBe(0);
	return JSON.parse(stdout);
}

it('leads an invited owner to a password page in every language, then to the owner pages', async () => {
	const { invitation = '' } = await createAccount('invited@owner.example', 'owner');
	const { pathname, search } = new URL(invitation);
	expect(pathname).toBe('/owner/password');
	const address = `/sw${pathname}${search}`;
	const owner = person();
	const page = await owner.get(address);
	expect(page.html).toContain('<html lang="sw"');
	expect(page.text).toContain('Chagua nenosiri');
	const short = await owner.post(address, { password: 'short' });
	expect(short).toMatchObject({ status: 400, text: expect.stringContaining('Tumia angalau herufi 12') });
	expect(await owner.post(address, { password: PASSWORD })).toMatchObject({ status: 200, path: '/sw/owner' });
	expect((await person().get(address)).text).toContain('Kiungo hiki hakifanyi kazi tena');

	const { stdout } = await cli(['accounts', 'invite', '--email', 'invited@owner.example'], fixture().server);
	const again = new URL(stdout.trim());
	expect(await person().post(again.pathname + again.search, { password: PASSWORD })).toMatchObject({
		path: '/owner'
	});
});

it('mails a forgotten password in the language of the page', async () => {
	const email = 'forgot@owner.example';
	await createAccount(email, 'owner');
	const owner = person();
	expect((await owner.get('/fr/owner/sign-in')).html).toContain('href="/fr/owner/forgot"');
	const sent = await owner.post('/fr/owner/forgot', { email });
	expect(sent.text).toContain('Consultez vos e-mails');
	const link = await mailedLink(fixture().server, email);
	expect(link).toMatch(/^\/owner\/password\?token=/);
	expect(fixture().server.stdout()).toContain('Choisissez votre mot de passe Airtill');
	expect(await owner.post(link, { password: PASSWORD })).toMatchObject({ path: '/owner' });
});

it('invites no account of the role app, which signs up itself', async () => {
	expect(await createAccount('app@owner.example', 'app')).not.toHaveProperty('invitation');
});

import { beforeAll, describe, expect, it } from 'vitest';
import { router as routerShape } from '../../../src/lib/server/contract/router.ts';
import { pngOf } from '../../support/pages/logos.ts';
import { registerGateway } from '../../support/gateways/gateways.ts';
import {
	addRouter,
	alertOf,
	newOwner,
	sendBrand,
	type BrandFields,
	type Owner
} from '../../support/pages/owners.ts';
import { browse, fieldValue } from '../../support/pages/browsing.ts';
import { useFixture } from '../../support/server/fixture.ts';

describe('branding', () => {
	const fixture = useFixture({ database: 'sqlite' });
	let owner: Owner;
	let router: number;
	let second: number;

	beforeAll(async () => {
		owner = await newOwner(fixture());
		router = await addRouter(fixture(), owner.accountId);
		second = await addRouter(fixture(), owner.accountId, { name: 'Second Place' });
	});

	const save = (fields: BrandFields, path = '/owner/settings?/brand', person = owner) =>
		sendBrand(person, fixture().server.url, path, fields);
	const brandOf = async (id: number) => (await fixture().api.getRouter(id)).brand;
	const logoFile = async () => (await brandOf(router))?.logo?.url ?? '';

	it('is absent until an owner sets it, and after everything is removed', async () => {
		expect(await brandOf(router)).toBeNull();
		expect((await save({ name: ' Blue  Crane ', colour: '#FFCC00' })).path).toBe(
			'/owner/settings?done=brand'
		);
		expect(await brandOf(router)).toEqual({
			...{ name: 'Blue Crane', contact: null, accent: '#ffcc00', logo: null }
		});
		await save({});
		expect(await brandOf(router)).toBeNull();
	});

	it('is the same at every router of the account, and of no other', async () => {
		await save({ name: 'All of us', colour: '#aa2200', logo: { bytes: pngOf(120, 40) } });
		const one = await brandOf(router);
		expect(await brandOf(second)).toEqual(one);
		expect(one).toMatchObject({ name: 'All of us', accent: '#aa2200', logo: { width: 120, height: 40 } });
		const { data } = await fixture().api.listRouters('lat=0.3377&lon=32.5878&radius=1&limit=100');
		const listed = data.filter(({ id }) => id === router || id === second).map(({ brand }) => brand?.name);
		expect(listed).toEqual(['All of us', 'All of us']);
		expect(await brandOf(3)).toBeNull();
		const answer = await fixture().admin.send('PUT', `/v1/owner/routers/${router}/price`, {
			body: { price: 500 }
		});
		expect(routerShape.parse(answer.body).brand).toEqual(one);
	});

	it('takes a chosen colour, even if no script has selected “Your own colour”', async () => {
		await save({ colour: '#aa2200', shown: '#0a6b4b' });
		expect((await brandOf(router))?.accent).toBe('#aa2200');
		await save({ colour: '#aa2200', shown: '#aa2200' });
		expect((await brandOf(router))?.accent).toBeNull();
	});

	it('keeps its logo when the form comes without one, and loses it when asked to', async () => {
		await save({ logo: { bytes: pngOf(40, 30), name: 'x.svg', type: 'image/svg+xml' } });
		const file = await logoFile();
		expect(file).toMatch(/^\/logos\/[0-9a-f]{32}\.png$/);
		await save({ name: 'With a logo' });
		expect(await logoFile()).toBe(file);
		await save({ remove: true });
		expect(await brandOf(router)).toBeNull();
		expect((await browse(fixture().server.url).get(file)).status).toBe(404);
	});

	it('of an older page replaces newer changes only after a warning, and keeps what was typed', async () => {
		const version = fieldValue(await owner.get('/owner/settings?/brand'), 'version');
		const newer = { name: 'Newer', version, logo: { bytes: pngOf(50, 50) } };
		// The second form is the first one, sent twice.
		expect((await save(newer)).path).toBe('/owner/settings?done=brand');
		expect((await save(newer)).path).toBe('/owner/settings?done=brand');
		const logo = await logoFile();
		const old = { name: 'From an old page', contact: '0700 000 111', colour: '#aa2200', version };
		const wrong = await save({ ...old, contact: 'nobody' });
		expect([wrong.status, fieldValue(wrong, 'version')]).toEqual([400, version]);
		const refused = await save(old);
		expect([refused.status, alertOf(refused)]).toEqual([
			409,
			'Somebody else changed these settings after you opened the page. Check yours, then save again to replace theirs.'
		]);
		expect(fieldValue(refused, 'name')).toBe(old.name);
		expect(fieldValue(refused, 'contact')).toBe(old.contact);
		expect(await brandOf(router)).toMatchObject({ name: 'Newer', accent: null });
		await save({ ...old, version: fieldValue(refused, 'version') });
		expect(await brandOf(router)).toMatchObject({ name: old.name, logo: { url: logo } });
		await save({ remove: true });
	});

	it('serves the logo as a picture and as nothing else', async () => {
		await save({ logo: { bytes: pngOf(120, 40) } });
		const file = await logoFile();
		const { url } = fixture().server;
		const answer = await fetch(url + file);
		expect(answer.status).toBe(200);
		expect(Object.fromEntries(answer.headers)).toMatchObject({
			'content-type': 'image/png',
			'content-security-policy': "default-src 'none'; sandbox",
			'x-content-type-options': 'nosniff',
			'cache-control': 'public, max-age=31536000, immutable'
		});
		const etag = answer.headers.get('etag') ?? '';
		const again = await fetch(url + file, { headers: { 'if-none-match': `"other", ${etag}` } });
		expect([again.status, await again.text()]).toEqual([304, '']);
		for (const name of [
			'x.png',
			`${'0'.repeat(32)}.png`,
			file.slice(7).replace('.png', '.svg'),
			'..%2f..%2fetc'
		]) {
			expect((await fetch(`${url}/logos/${name}`)).status).toBe(404);
		}
	});

	it('shows on every page that sells there, and on its poster, beside Airtill’s own sign', async () => {
		await save({ name: 'Café <b>"Ü"</b>', colour: '#ffcc00', logo: { bytes: pngOf(120, 40) } });
		const { key } = await registerGateway(fixture().server, 'mikrotik-chap', {
			loginHost: '10.5.50.1',
			router
		});
		for (const path of [`/r/${router}`, `/r/${router}/poster`, `/kiosk/${router}`, `/splash/${key}`]) {
			const page = await browse(fixture().server.url).get(path);
			expect(page.status).toBe(200);
			expect(page.html).toContain(await logoFile());
			expect(page.text).toContain('Café <b>"Ü"</b>');
			expect(page.text).toContain('Airtill');
			const [, nonce, rules] =
				/<style nonce="([^"]+)">[^<]*?(\.owner\{[^<]+:root\{--accent:#[^<]+)<\/style>/.exec(page.html) ?? [];
			expect(rules).toContain('--accent:#ffcc00');
			expect(page.headers.get('content-security-policy')).toContain(`'nonce-${nonce}'`);
		}
		// Another owner's page has none of these rules.
		expect((await browse(fixture().server.url).get('/r/3')).html).not.toContain('--accent:#ffcc00');
		await save({ remove: true });
	});

	it.each([
		[{ name: 'x'.repeat(41) }, 'at most 40 characters'],
		[{ name: 'evil\u202Egnp' }, 'invisible characters'],
		[{ colour: '#0a6b4b;}body{display:none' }, 'such as #0a6b4b'],
		[{ colour: '#888888' }, 'is grey'],
		[{ logo: { bytes: 'GIF89a', name: 'a.png', type: 'image/png' } }, 'not a PNG, JPEG or WebP'],
		[{ contact: 'call me' }, 'such as 0772 123 456'],
		[{ logo: { bytes: Buffer.alloc(5.1 * 1024 ** 2, 1), name: 'a.png' } }, 'at most 5 MB']
	] satisfies [BrandFields, string][])(
		'refuses a wrong field (%#) and changes nothing',
		async (fields, reason) => {
			const before = await fixture().sql.all('select * from brands order by account_id');
			const page = await save(fields);
			expect(page.status).toBe(400);
			expect(alertOf(page)).toContain(reason);
			expect(await fixture().sql.all('select * from brands order by account_id')).toEqual(before);
		}
	);

	it('joins scripts that need joiners, and drops marks of direction', async () => {
		await save({ name: '\u200Fمقهى می\u200Cشود\u200E' });
		expect((await brandOf(router))?.name).toBe('مقهى می\u200Cشود');
		await save({});
	});

	it('refuses a form that is long without a file: parsing it would keep everybody waiting', async () => {
		await save({ name: 'As before' });
		const headers = { origin: fixture().server.url };
		const send = async (body: BodyInit) =>
			(await owner.raw('/owner/settings?/brand', { method: 'POST', headers, body })).status;
		expect(await send(new URLSearchParams({ name: 'x'.repeat(17_000) }))).toBe(413);
		const parts = new FormData();
		for (let count = 0; count <= 100; count += 1) parts.append('name', 'x');
		expect(await send(parts)).toBe(400);
		for (const head of [
			`name="${'n'.repeat(3_000)}"`,
			`name="logo"; filename="a.png"\r\n${'a: b\r\n'.repeat(500)}X: y`
		]) {
			const body = `--x\r\nContent-Disposition: form-data; ${head}\r\n\r\nx\r\n--x--\r\n`;
			const type = { 'content-type': 'multipart/form-data; boundary=x' };
			const sent = await owner.raw('/owner/settings?/brand', {
				method: 'POST',
				headers: { ...headers, ...type },
				body
			});
			expect(sent.status, head.slice(0, 60)).toBe(400);
		}
		const large = await save(
			{ logo: { bytes: Buffer.alloc(6.1 * 1024 ** 2, 1) } },
			'/fr/owner/settings?/brand'
		);
		expect([large.status, large.text]).toEqual([413, expect.stringContaining('Ce fichier est trop grand.')]);
		expect((await brandOf(second))?.name).toBe('As before');
		await save({});
	});
});

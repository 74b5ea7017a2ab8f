/** Owners in a browser with cookies and forms but without script. */
import { browse, PASSWORD, signUp, triesForgotten, type Browsing, type Page } from './browsing.ts';
import { buyAt, numberEnding } from './purchase.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';
import type { Value } from '../database/sql.ts';
import { eventually, type Fixture } from '../server/fixture.ts';

export interface Owner extends Browsing {
	accountId: number;
	email: string;
}

let owners = 0;

/** Signs up and gets the owner role from the administrator. */
export async function newOwner(fixture: Fixture, role: 'app' | 'owner' | 'admin' = 'owner'): Promise<Owner> {
	await triesForgotten(fixture);
	const email = `owner${(owners += 1)}@people.example`;
	const person = await signUp(fixture.server, email);
	await fixture.sql.run('update accounts set role = ? where email = ?', role, email);
	const accountId = await fixture.sql.count('select id from accounts where email = ?', email);
	return { ...person, accountId, email };
}

/** A person on the staff of an owner, with a password. */
export async function newStaff(
	fixture: Fixture,
	{ accountId: employer }: Owner,
	role: 'manager' | 'cashier'
): Promise<Owner> {
	const person = await newOwner(fixture, 'app');
	const columns = `role = 'staff', employer_id = ?, staff_role = ?`;
	await fixture.sql.run(`update accounts set ${columns} where id = ?`, ...[employer, role, person.accountId]);
	return person;
}

/** Opens the owner pages by their own form. */
export async function signInOnOwnerPages(
	fixture: Fixture,
	email: string,
	next = ''
): Promise<[Browsing, Page]> {
	const person = browse(fixture.server.url);
	return [person, await person.post('/owner/sign-in', { email, password: PASSWORD, next })];
}

/** A copy of the third demo router that belongs to another account. */
export async function addRouter(
	{ sql }: Fixture,
	owner: number,
	different: Record<string, Value> = {}
): Promise<number> {
	const [row] = await sql.all('select * from routers where id = 3');
	const copied = { ...row, external_id: null, owner_account_id: owner, ...different } as Record<
		string,
		Value
	>;
	const columns = Object.fromEntries(Object.entries(copied).filter(([name]) => name !== 'id'));
	return sql.count(
		`insert into routers (${Object.keys(columns).join(', ')})
			values (${Object.keys(columns)
				.map(() => '?')
				.join(', ')}) returning id`,
		...Object.values(columns)
	);
}

/** A customer buys an hour on the page of a router. @returns the page, and the session once it runs */
export async function customerAt(
	{ server, sql }: Fixture,
	router: number
): Promise<{ page: string; session: number }> {
	const page = await buyAt(server.url, `/r/${router}`, numberEnding('008'));
	const running = `select s.id from sessions s join purchases p on p.session_id = s.id
		where p.token_hash = ? and s.status = 'active'`;
	const hash = sha256(page.slice('/s/'.length));
	return { page, session: await eventually('the session runs', () => sql.count(running, hash)) };
}

export interface BrandFields {
	name?: string;
	contact?: string;
	colour?: string;
	/** The colour that the page showed. */
	shown?: string;
	remove?: boolean;
	/** Of the brand that the page showed. */
	version?: string;
	logo?: { bytes: string | Buffer; name?: string; type?: string };
}

/** Sends the form of an owner's look as a browser does. */
export async function sendBrand(
	person: Browsing,
	url: string,
	path: string,
	{ name = '', contact = '', colour, shown, remove, version, logo }: BrandFields
): Promise<Page> {
	const form = new FormData();
	form.set('name', name);
	form.set('contact', contact);
	if (version !== undefined) form.set('version', version);
	if (shown !== undefined) form.set('shown', shown);
	form.set('which', colour === undefined || shown !== undefined ? 'none' : 'own');
	form.set('colour', colour ?? '#0a6b4b');
	if (remove === true) form.set('remove', '1');
	const file = logo
		? new File([new Uint8Array(Buffer.from(logo.bytes as string))], logo.name ?? 'logo.png', {
				type: logo.type ?? 'image/png'
			})
		: new File([], '');
	form.set('logo', file);
	const response = await person.raw(path, { method: 'POST', body: form, headers: { origin: url } });
	if (response.status === 303) return person.get(response.headers.get('location') ?? '');
	const html = await response.text();
	return {
		status: response.status,
		path,
		html,
		text: html.replace(/<[^>]+>/g, ' '),
		headers: response.headers
	};
}

/** Error messages of a page. */
export const alertOf = ({ html }: Page): string =>
	(/role="alert"[^>]*>([^]*?)<\/(?:p|div)>/.exec(html)?.[1] ?? '')
		.replace(/<[^>]+>|<!--.*?-->/g, '')
		.replace(/\s+/g, ' ')
		.trim();

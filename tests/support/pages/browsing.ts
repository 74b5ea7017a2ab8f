/** A browser with cookies and forms but without script: every page must work in it. */
import { eventually, type Fixture } from '../server/fixture.ts';
import type { TestServer } from '../server/server.ts';
import { decoded } from './pages.ts';

export interface Page {
	status: number;
	/** Path and query of the page, after the redirects that led there. */
	path: string;
	html: string;
	/** Visible text: without markup, with whitespace collapsed. */
	text: string;
	headers: Headers;
}

export interface Browsing {
	get(path: string): Promise<Page>;
	post(path: string, fields?: Fields, headers?: Record<string, string>): Promise<Page>;
	/** Does not follow redirects. */
	raw(path: string, init?: RequestInit): Promise<Response>;
	cookies: Map<string, string>;
}

/** A list is a repeated field. */
export type Fields = Record<string, string | readonly string[]>;

const MAX_REDIRECTS = 5;

export function browse(url: string, userAgent = 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0'): Browsing {
	const cookies = new Map<string, string>();

	async function raw(path: string, init: RequestInit = {}): Promise<Response> {
		const headers = new Headers(init.headers);
		headers.set('user-agent', userAgent);
		if (!headers.has('accept')) headers.set('accept', 'text/html');
		if (cookies.size > 0) headers.set('cookie', [...cookies].map((pair) => pair.join('=')).join('; '));
		const response = await fetch(new URL(path, url), { redirect: 'manual', ...init, headers });
		for (const line of response.headers.getSetCookie()) {
			const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
			if (/max-age=0\b/i.test(line)) cookies.delete(name);
			else cookies.set(name, value);
		}
		return response;
	}

	async function follow(path: string, init: RequestInit): Promise<Page> {
		let [at, response] = [path, await raw(path, init)];
		for (let count = 0; response.status === 303 || response.status === 302; count += 1) {
			if (count === MAX_REDIRECTS) throw new Error(`Too many redirects from ${path}`);
			await response.arrayBuffer();
			at = response.headers.get('location') ?? '';
			response = await raw(at);
		}
		const html = await response.text();
		const target = new URL(at, url);
		return {
			status: response.status,
			path: target.pathname + target.search,
			html,
			text: textOf(html),
			headers: response.headers
		};
	}

	return {
		cookies,
		raw,
		get: (path) => follow(path, {}),
		post(path, fields = {}, headers = {}) {
			const body = new URLSearchParams();
			for (const [name, value] of Object.entries(fields)) {
				for (const one of typeof value === 'string' ? [value] : value) body.append(name, one);
			}
			return follow(path, { method: 'POST', body, headers: { origin: url, ...headers } });
		}
	};
}

const textOf = (html: string) =>
	decoded(
		html
			.replace(/<(script|style|head)\b.*?<\/\1>/gs, ' ')
			.replace(/<!--.*?-->/gs, '')
			.replace(/<\/?(a|b|code|i|span|wbr)\b[^>]*>/g, '')
			.replace(/<[^>]+>/g, ' ')
	)
		.replace(/\s+/g, ' ')
		.trim();

/** The value of the first field of that name in a page. */
export function fieldValue({ html }: Page, name: string): string {
	const tag = new RegExp(`<input[^>]*\\bname="${name}"[^>]*>`).exec(html)?.[0] ?? '';
	const value = /\bvalue="([^"]*)"/.exec(tag)?.[1];
	if (value === undefined) throw new Error(`The page has no field ${name}`);
	return decoded(value);
}

/** Path and query of the link in the newest mail to an address, as the sandbox prints it. */
export async function mailedLink(server: TestServer, email: string, count = 1): Promise<string> {
	return eventually(`mail ${count} to ${email}`, async () => {
		const mails = server.stdout().split(`\nTo: ${email}\n`).slice(1);
		const link = /^https?:\/\/[^/\s]+(\/\S+)$/m.exec(mails[count - 1]?.split('\n---')[0] ?? '')?.[1];
		return link ?? null;
	});
}

/** The password of a demo account, as the server prints it. */
export function demoPassword(server: TestServer, email: string): string {
	const password = new RegExp(`^ +${email} +password (\\S+)$`, 'm').exec(server.stdout())?.[1];
	if (!password) throw new Error(`The server printed no password for ${email}`);
	return password;
}

export const PASSWORD = 'a long enough password';

let people = 0;
/** An address that nobody used before. */
export const someone = (): string => `person${(people += 1)}@people.example`;

/** Signs up with a new address, all the way to the first page behind the sign-in. */
export async function signUp(server: TestServer, email: string): Promise<Browsing> {
	const person = browse(server.url);
	await person.post('/developer/sign-up', { email });
	const page = await person.post(await mailedLink(server, email), { password: PASSWORD });
	// Owners get to their own pages.
	if (!['/developer/keys', '/owner'].includes(page.path)) {
		throw new Error(`Not signed in: ${page.status} ${page.text}`);
	}
	return person;
}

/** Signs in as a demo account. */
export async function signInAs(server: TestServer, role: 'app' | 'owner' | 'admin'): Promise<Browsing> {
	const person = browse(server.url);
	const email = `${role}@airtill.example`;
	const page = await person.post('/developer/sign-in', { email, password: demoPassword(server, email) });
	if (page.path !== '/developer/keys') throw new Error(`Not signed in: ${page.status} ${page.text}`);
	return person;
}

const minuteMs = 60_000;

/** Lets a minute pass for the rate limits; PostgreSQL counts by a clock of its own. */
export async function triesForgotten({ server, sql }: Fixture): Promise<void> {
	await server.advance(minuteMs + 1);
	if (server.databaseUrl.startsWith('postgres')) await sql.run('delete from rate_counts');
}

/** Administrators of an installation in any mode, who decide on its pages. */
import { browse, PASSWORD, type Browsing, type Page } from './browsing.ts';
import { setUpSecondFactor } from './second-factor.ts';
import { cli } from '../server/cli.ts';
import type { TestServer } from '../server/server.ts';

const known = new WeakMap<TestServer, Browsing>();
let administrators = 0;

/** The administrator of a test's server; another one after the session has ended. */
export async function administratorOf(server: TestServer): Promise<Browsing> {
	const before = known.get(server);
	if (before && (await before.raw('/admin/accounts/new')).status === 200) return before;
	const email = `administrator${(administrators += 1)}@people.example`;
	const made = await cli(['accounts', 'create', '--email', email, '--role', 'admin'], server);
	if (made.code !== 0) throw new Error(made.stderr);
	const { pathname, search } = new URL((JSON.parse(made.stdout) as { invitation: string }).invitation);
	const person = browse(server.url);
	const page = await person.post(pathname + search, { password: PASSWORD });
	// Live mode asks administrators for a second factor.
	if (page.path === '/developer/account') await setUpSecondFactor(server, person, PASSWORD);
	else if (page.path !== '/admin') throw new Error(`Not signed in: ${page.status} ${page.path} ${page.text}`);
	known.set(server, person);
	return person;
}

/** Decides a review. @returns the page that answers: 200, or the refusal */
export async function decideReview(
	server: TestServer,
	review: unknown,
	decision: string,
	transaction = ''
): Promise<Page> {
	const note = 'seen in the portal';
	const fields = { decision, note, transaction };
	return (await administratorOf(server)).post(`/admin/reviews/${String(review)}`, fields);
}

/** Presses a button of a router's page, with a reason. */
export async function changeRouter(
	server: TestServer,
	router: number,
	what: 'disable' | 'enable' | 'confirm' | 'withdraw',
	note = 'asked by the owner'
): Promise<Page> {
	return (await administratorOf(server)).post(`/admin/routers/${router}?/${what}`, { note });
}

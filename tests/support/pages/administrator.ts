/** Administrators of an installation in any mode, who decide on its pages. */
import { browse, PASSWORD, type Browsing, type Page } from './browsing.ts';
import { setUpSecondFactor } from './second-factor.ts';
import { cli } from '../server/cli.ts';
import type { TestServer } from '../server/server.ts';

const known = new WeakMap<TestServer, Browsing>();
let invited = 0;

/** The administrator of a test's server; another one after the session has ended. */
export async function administratorOf(server: TestServer): Promise<Browsing> {
	const before = known.get(server);
	if (before && (await before.raw('/admin/accounts')).status === 200) return before;
	const [person, page] = await acceptInvitation(server, 'admin');
	// Live mode asks administrators for a second factor.
	if (page.path === '/developer/account') await setUpSecondFactor(server, person, PASSWORD);
	else if (page.path !== '/admin') throw new Error(`Not signed in: ${page.status} ${page.path} ${page.text}`);
	known.set(server, person);
	return person;
}

/** Makes an account with the command line and chooses its password at the link. @returns the page after that, too */
export async function acceptInvitation(
	server: TestServer,
	role: 'admin' | 'owner'
): Promise<[Browsing, Page]> {
	const email = `${role}${(invited += 1)}@people.example`;
	const made = await cli(['accounts', 'create', '--email', email, '--role', role], server);
	if (made.code !== 0) throw new Error(made.stderr);
	const { pathname, search } = new URL((JSON.parse(made.stdout) as { invitation: string }).invitation);
	const person = browse(server.url);
	return [person, await person.post(pathname + search, { password: PASSWORD })];
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

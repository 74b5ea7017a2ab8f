import { error, type RequestEvent } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { type Author, accountActor } from '../../audit.ts';
import { type Account, findAccount } from '../../accounts/accounts.ts';
import { attempt, Refused } from '../../platform/errors.ts';
import { type OwnedRouter, readOwnedRouter } from '../../routers/routers.ts';
import { idOf } from '../page-links.ts';
import { logSecurity } from '#lib/server/http/client-address.ts';
import { signedIn, type Visitor } from '../sign-in/sign-in.ts';
import { mayDo, rolesOf, type OwnerRole } from './roles.ts';
import { findOwnerView } from '../../owner/views.ts';

export const OWNER_SIGN_IN_PATH = '/owner/sign-in';
const ROUTES = /^\/\(area\)\/owner\/?/;

/** A person on the owner pages. `account` is the person's own. */
export interface OwnerVisitor extends Visitor {
	/** The owner of the routers and sales on the pages. */
	owner: Account;
	role: OwnerRole;
	/** `personId` is recorded as the author of changes. */
	actor: { accountId: number; role: 'owner'; keyId: null; personId: number };
	isSuspended: boolean;
	/** When an administrator's view of these pages ends, in ms since the epoch; null for everybody else. */
	viewEndsAt: number | null;
}

/** The person as the author of a change, for the audit log. */
export const authorOf = ({ account }: Visitor): Author => ({
	by: accountActor(account.id),
	note: 'owner pages'
});

/** Redirects to the sign-in page, or throws 403 for an account without owner pages. Does not check the page. */
export function ownerVisitor(event: RequestEvent): Promise<OwnerVisitor> {
	event.locals.ownerVisitor ??= findOwnerVisitor(event);
	return event.locals.ownerVisitor;
}

async function findOwnerVisitor(event: RequestEvent): Promise<OwnerVisitor> {
	const found = await signedIn(event, link(OWNER_SIGN_IN_PATH));
	const { account, sessionId } = found;
	const { app } = event.locals;
	const isAdmin = account.role === 'admin' && account.status === 'active';
	const view = isAdmin ? await findOwnerView(app, sessionId) : null;
	const ownerId = view?.account_id ?? account.employer_id;
	const owner = ownerId === null ? account : await findAccount(app, ownerId);
	// The pages of an employer are not a suspended person's own.
	const isSuspendedStaff = account.role === 'staff' && account.status === 'suspended';
	if (isSuspendedStaff || !owner || (owner.role !== 'owner' && owner.role !== 'admin')) {
		logSecurity(event, 'page refused', { account: account.id, reason: 'not an owner' });
		error(403, account.role === 'staff' ? m.staff_over() : m.owner_not_owner());
	}
	return {
		...found,
		owner,
		role: account.staff_role ?? 'owner',
		actor: {
			...{ accountId: owner.id, personId: account.id, keyId: null },
			// An administrator, too: routers of others are changed in /admin, with a reason that their owner sees.
			role: 'owner'
		},
		isSuspended: owner.status === 'suspended' || account.status === 'suspended',
		viewEndsAt: view?.ends_at ?? null
	};
}

/** Also throws 403 if the person may not open this page. Every load must call it. */
export async function pageVisitor(event: RequestEvent): Promise<OwnerVisitor> {
	const visitor = await ownerVisitor(event);
	check(event, visitor, 'page');
	return visitor;
}

/** Forms of a suspended person: others may know the password. */
const OF_ACCOUNT = ['password', 'sessions', 'factor', 'confirm', 'stop'];

/**
 * Throws 403 if the person may not use this form, for a suspended account, and during an administrator's
 * view. Every action must call it.
 */
export async function formVisitor(event: RequestEvent): Promise<OwnerVisitor> {
	const visitor = await ownerVisitor(event);
	if (visitor.viewEndsAt !== null) error(403, m.staff_view_nothing());
	// SvelteKit runs the action of the first such parameter.
	const named = [...event.url.searchParams.keys()].find((name) => name.startsWith('/'));
	const action = named?.slice(1) ?? 'default';
	check(event, visitor, action);
	const isOfAccount = routeOf(event) === 'settings' && OF_ACCOUNT.includes(action);
	if (visitor.isSuspended && !isOfAccount) error(403, m.owner_suspended_nothing());
	return visitor;
}

function check(event: RequestEvent, { account, role }: OwnerVisitor, action: string): void {
	const route = routeOf(event);
	if (!ROUTES.test(event.route.id ?? '') || !rolesOf(route, action)) error(404, m.common_error_not_found());
	if (mayDo(role, route, action)) return;
	logSecurity(event, 'page refused', { account: account.id, reason: `not for the role ${role}` });
	error(403, m.staff_refused());
}

const routeOf = ({ route }: RequestEvent): string => (route.id ?? '').replace(ROUTES, '');

/** Makes the load of a page. */
export const ownerPage =
	<Event extends RequestEvent, Data>(load: (event: Event, owner: OwnerVisitor) => Data | Promise<Data>) =>
	async (event: Event): Promise<Data> =>
		load(event, await pageVisitor(event));

/** Makes a form action. */
export const ownerForm =
	<Event extends RequestEvent, Data>(act: (event: Event, owner: OwnerVisitor) => Data | Promise<Data>) =>
	async (event: Event): Promise<Data> =>
		act(event, await formVisitor(event));

type RouterEvent = RequestEvent<{ router: string }>;

/** Makes the load of a page about one router. */
export const routerPage = <Event extends RouterEvent, Data>(
	load: (event: Event, router: OwnedRouter, owner: OwnerVisitor) => Data | Promise<Data>
) => ownerPage(async (event: Event, owner) => load(event, await ownRouter(event, owner), owner));

/** Makes a form action about one router. */
export const routerForm = <Event extends RouterEvent, Data>(
	act: (event: Event, router: OwnedRouter, owner: OwnerVisitor) => Data | Promise<Data>
) => ownerForm(async (event: Event, owner) => act(event, await ownRouter(event, owner), owner));

const ownRouter = (event: RouterEvent, owner: OwnerVisitor) =>
	ownRouterOf(event, owner, idOf(event.params.router));

/** Throws 404 for an unknown router and for another owner's. */
export async function ownRouterOf(
	{ locals }: RequestEvent,
	{ actor }: OwnerVisitor,
	id: number
): Promise<OwnedRouter> {
	const router = await attempt(() => readOwnedRouter(locals.app.routers, actor, id));
	return router instanceof Refused ? error(404, m.owner_no_such_router()) : router;
}

import { error, type RequestEvent } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { accountActor } from '../../audit/audit.ts';
import { AppError } from '../../platform/errors.ts';
import type { Editor, OwnedRouter } from '../../routers/routers.ts';
import { idOf } from '../page-links.ts';
import { logSecurity } from '../security-log.ts';
import { requireVisitor, type Visitor } from '../sign-in/sign-in.ts';

export const OWNER_SIGN_IN_PATH = '/owner/sign-in';

export interface OwnerVisitor extends Visitor {
	actor: { accountId: number; role: 'owner' | 'admin'; keyId: null };
}

/** The person as the author of a change, for the audit log. */
export const editorOf = ({ account }: Visitor): Editor => ({
	by: accountActor(account.id),
	note: 'owner pages'
});

/** Redirects to the sign-in page, or throws 403 for an app account. Every load and action must call it. */
export async function requireOwner(event: RequestEvent): Promise<OwnerVisitor> {
	const found = await requireVisitor(event, link(OWNER_SIGN_IN_PATH));
	const { role, id } = found.account;
	if (role === 'app') {
		logSecurity(event, 'page refused', { account: id, reason: 'not an owner' });
		error(403, m.owner_not_owner());
	}
	return { ...found, actor: { accountId: id, role, keyId: null } };
}

/** Also throws 403 for a suspended account. Every action that changes data must call it. */
export async function requireActiveOwner(event: RequestEvent): Promise<OwnerVisitor> {
	const owner = await requireOwner(event);
	if (owner.account.status === 'suspended') error(403, m.owner_suspended_nothing());
	return owner;
}

export const ownRouter = (event: RequestEvent<{ router: string }>, owner: OwnerVisitor) =>
	ownRouterOf(event, owner, idOf(event.params.router));

/** Throws 404 for an unknown router and for another owner's. */
export async function ownRouterOf(
	{ locals }: RequestEvent,
	{ actor }: OwnerVisitor,
	id: number
): Promise<OwnedRouter> {
	try {
		return await locals.app.routers.ownedOne(actor, id);
	} catch (problem) {
		if (!(problem instanceof AppError)) throw problem;
	}
	error(404, m.owner_no_such_router());
}

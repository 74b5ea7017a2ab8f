import { error, redirect, type RequestEvent } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { splitLanguage } from '#lib/i18n/path.ts';
import { AppError } from '../platform/errors.ts';
import type { OwnedRouter } from '../routers/routers.ts';
import { visitor, type Visitor } from './sign-in.ts';

/** Who may see and change what on the owner pages: every load and every action asks here. */

export const OWNER_SIGN_IN_PATH = '/owner/sign-in';
export const OWNER_FIRST_PATH = '/owner';

/** Somebody who is signed in and may have routers, as the nouns know callers: no key is at work. */
export interface OwnerVisitor extends Visitor {
	actor: { accountId: number; role: 'owner' | 'admin'; keyId: null };
}

/** The owner who is signed in. Others are sent to sign in, or told that they have none of this. */
export async function requireOwner(event: RequestEvent): Promise<OwnerVisitor> {
	const found = await visitor(event);
	if (!found) {
		const { path } = splitLanguage(event.url.pathname);
		const back = event.request.method === 'GET' ? `?next=${encodeURIComponent(path + event.url.search)}` : '';
		redirect(303, link(OWNER_SIGN_IN_PATH) + back);
	}
	const { role, id } = found.account;
	if (role === 'app') error(403, m.owner_not_owner());
	return { ...found, actor: { accountId: id, role, keyId: null } };
}

/** The same, for what changes something: a suspended account changes nothing. */
export async function requireActiveOwner(event: RequestEvent): Promise<OwnerVisitor> {
	const owner = await requireOwner(event);
	if (owner.account.status === 'suspended') error(403, m.owner_suspended_nothing());
	return owner;
}

/** The router of the address, which the owner must have. Another owner's is not found: there is nothing to learn. */
export async function ownRouter(
	{ params, locals }: RequestEvent<{ router: string }>,
	{ actor }: OwnerVisitor
): Promise<OwnedRouter> {
	try {
		if (/^\d{1,15}$/.test(params.router)) {
			return await locals.app.routers.ownedOne(actor, Number(params.router));
		}
	} catch (problem) {
		if (!(problem instanceof AppError)) throw problem;
	}
	error(404, m.owner_no_such_router());
}

/** Where to go after the sign-in: a page of the owner's area, never another site. */
export const nextOwnerPath = (wanted: string | null): string =>
	wanted !== null && /^\/owner((\/[\w-]+)*)(\?[\w=&-]*)?$/.test(wanted) ? wanted : OWNER_FIRST_PATH;

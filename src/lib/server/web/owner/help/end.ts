import { error, fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { endsByItself } from '#lib/domain/access-kind.ts';
import { MAX_REASON } from '#lib/domain/decision.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { readReason } from '../../admin/admin.ts';
import { readFields } from '../../form.ts';
import { idOf } from '../../page-links.ts';
import { editorOf, type OwnerVisitor } from '../owner.ts';
import { summaryOf } from './search.ts';

type EndEvent = RequestEvent<{ session: string }>;

async function ownPurchase({ params, locals: { app } }: EndEvent, { actor }: OwnerVisitor) {
	const found = await app.help.read(actor.accountId, idOf(params.session));
	return found ?? error(404, m.help_not_found());
}

/** Leads back to the purchase if no time runs. */
export async function endPage(event: EndEvent, owner: OwnerVisitor) {
	const found = await ownPurchase(event, owner);
	if (found.session.status !== 'active') redirect(303, link(`/owner/help/${found.session.id}`));
	const text = endsByItself(found.session.access_kind) ? m.help_end_text() : m.help_end_text_shared();
	return { ...summaryOf(found, event.locals.app.config.reportTimezone), text };
}

/** Ends the time. A form that is sent twice ends it once. */
export async function endTime(event: EndEvent, owner: OwnerVisitor) {
	const { id } = (await ownPurchase(event, owner)).session;
	const { field } = await readFields(event.request);
	const { note, problem } = readReason(field);
	if (problem !== null) return fail(400, { note, problem: m.help_reason_wrong({ max: String(MAX_REASON) }) });
	const { accountId } = owner.actor;
	await event.locals.app.sessions.endForOwner(accountId, id, { by: editorOf(owner).by, note });
	const { session } = await ownPurchase(event, owner);
	const isEnded = session.status === 'ended' && session.status_reason === 'admin_ended';
	if (!isEnded) error(409, m.help_end_nothing());
	redirect(303, link(`/owner/help/${id}?ended`));
}

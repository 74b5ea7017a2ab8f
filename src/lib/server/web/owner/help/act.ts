import { purchaseToken } from '#lib/server/platform/ids.ts';
import { error, fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { MAX_REASON } from '#lib/domain/decision.ts';
import { formatDuration } from '#lib/domain/duration.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { noteOf, readFields } from '../../form.ts';
import { idOf } from '../../page-links.ts';
import { authorOf, type OwnerVisitor } from '../owner.ts';
import { HELP_ACTIONS } from './actions.ts';
import { describePurchase } from '../customers.ts';

type ActionEvent = RequestEvent<{ session: string; action: string }>;

async function wanted({ params, locals: { app } }: ActionEvent, { actor }: OwnerVisitor) {
	const action = HELP_ACTIONS.get(params.action);
	const facts = action ? await app.help.read(actor.accountId, idOf(params.session)) : null;
	if (!action || !facts) error(404, m.help_not_found());
	return { action, facts };
}

/** Leads back to the purchase if the action is not possible. */
export async function actionPage(event: ActionEvent, owner: OwnerVisitor) {
	const { action, facts } = await wanted(event, owner);
	// After the form, the page shows its answer even if the action is no longer possible.
	const isAsked = event.request.method !== 'POST';
	if (isAsked && !action.isPossible(facts)) redirect(303, link(`/owner/customers/${facts.session.id}`));
	return {
		...describePurchase(facts, event.locals.app),
		title: action.title(),
		text: action.text(facts),
		button: action.button(),
		isDangerous: action.isDangerous ?? false,
		durations: (action.durations ?? []).map((value) => ({ value, label: formatDuration(value) })),
		payment: action.payment?.(facts) ?? null,
		/** Names this form, so that it acts once. */
		form: purchaseToken()
	};
}

export async function act(event: ActionEvent, owner: OwnerVisitor) {
	const { action, facts } = await wanted(event, owner);
	const { field } = await readFields(event.request);
	const note = noteOf(field);
	const refused = (status: number, problem: string) =>
		fail(status, { note, duration: field('duration'), problem, shown: null });
	if (note === '' || note.length > MAX_REASON)
		return refused(400, m.help_reason_wrong({ max: String(MAX_REASON) }));
	const { app, origin } = event.locals;
	const { accountId, personId } = owner.actor;
	const order = { app, accountId, personId, origin, by: authorOf(owner).by, note, field, facts };
	const outcome = await action.run(order, facts.session.id);
	if (outcome === 'done')
		redirect(303, link(`/owner/customers/${facts.session.id}?done=${event.params.action}`));
	if ('refusal' in outcome) return refused(409, outcome.refusal);
	return { note, duration: '', problem: null, ...outcome };
}

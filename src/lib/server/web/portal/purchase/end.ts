import { redirect } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import type { SessionBody } from '#lib/server/contract/session.ts';
import { apiClient, ApiProblem } from '#lib/server/portal/api-client.ts';
import { orUnavailable } from '../api-errors.ts';
import { requirePurchase } from './find-purchase.ts';
import { ownPath, type PageEvent } from './page-path.ts';
import { takesCode, type SignIn } from './sign-in-instructions.ts';

export function endText(session: SessionBody, signIn: SignIn): string {
	if (session.access.kind === 'shared_password') return m.purchase_end_text_shared();
	return takesCode(session, signIn) ? m.purchase_end_text_login() : m.purchase_end_text();
}

/** Ends the running time, including added time. Repeating it changes nothing. */
export async function endTime(event: PageEvent): Promise<never> {
	const { session, added } = await requirePurchase(event);
	const active = [session, ...added.map((part) => part.session)].filter(
		({ status, isExtra }) => status === 'active' && !isExtra
	);
	active.sort((a, b) => Date.parse(a.starts_at ?? '') - Date.parse(b.starts_at ?? ''));
	const [first] = active;
	try {
		if (first) await orUnavailable(apiClient(event).endSession(first.id), m.purchase_unreachable());
	} catch (problem) {
		if (!(problem instanceof ApiProblem && problem.code === 'session_not_active')) throw problem;
	}
	redirect(303, ownPath(event));
}

import { fail, type RequestEvent } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { readFields } from '../form.ts';
import { tooSoon } from './sign-in-limits.ts';
import { changePassword, newPasswordProblem, type Visitor } from './sign-in.ts';

/** Reads a form with the fields `current` and `wanted`. Returns null if the password is changed. */
export async function answerChangePassword(event: RequestEvent, visitor: Visitor) {
	const { field } = await readFields(event.request);
	const problem = await newPasswordProblem(field('wanted'), visitor.email);
	if (problem !== null) return fail(400, { problem });
	const refused = await tooSoon(event, visitor.email, {});
	if (refused) return refused;
	const passwords = { current: field('current'), wanted: field('wanted') };
	const isChanged = await changePassword(event, visitor, passwords);
	return isChanged ? null : fail(400, { problem: m.owner_password_wrong() });
}

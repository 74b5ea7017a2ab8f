import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { isEmail } from '#lib/domain/email.ts';
import { moment } from '#lib/format/text.ts';
import { link } from '#lib/i18n/current.ts';
import { apart, numberText } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import {
	MAX_STAFF,
	STAFF_ROLES,
	type Employer,
	type Invitation,
	type StaffRole,
	listStaff,
	listInvitations,
	inviteStaff,
	withdrawInvitation,
	changeStaffRole,
	removeStaff
} from '../../accounts/staff.ts';
import { attempt, Refused } from '../../platform/errors.ts';
import { readFields, type Fields } from '../form.ts';
import { idOf, readPage } from '../page-links.ts';
import { tooManyMails } from '../sign-in/sign-in-limits.ts';
import { authorOf, type OwnerVisitor } from './owner.ts';
import { roleWords } from './roles.ts';
import { listOwnerViews } from '../../owner/views.ts';
import { mailInvitation, forgetUser } from '../../authentication/links.ts';
import { findMailProblem } from '#lib/server/authentication/sign-in.ts';

/** Staff on the owner's settings page: people, invitations, and the views of administrators. */

const VIEWS_PER_PAGE = 20;

/** /owner/settings?before=ID: the views of administrators before this one. */
export async function staffPage(event: RequestEvent, { owner }: OwnerVisitor) {
	const { app } = event.locals;
	const [people, invitations, { rows: views, pages: viewPages }] = await Promise.all([
		listStaff(app, owner.id),
		listInvitations(app, owner.id),
		readPage(event, { parameter: 'before', length: 1, anchor: '#views' }, (before) =>
			listOwnerViews(app, owner.id, { before, limit: VIEWS_PER_PAGE })
		)
	]);
	const { reportTimezone: timeZone } = app.config;
	const done: Record<string, () => string> = {
		role: m.staff_changed,
		remove: m.staff_removed,
		withdraw: m.staff_withdrawn
	};
	return {
		roles: STAFF_ROLES.map((role) => ({ role, ...roleWords(role) })),
		people: people.map(({ id, email, staff_role: role }) => ({
			...{ id, email, role: role ?? 'cashier' },
			roleName: roleWords(role ?? 'cashier').name,
			removeText: m.staff_remove_text({ email: apart(email) })
		})),
		invitations: invitations.map(({ id, email, staff_role: role }) => ({
			...{ id, email },
			roleName: roleWords(role).name
		})),
		views: views.map(({ id, reason, started_at: from, ended_at: to }) => ({
			...{ id, reason },
			when:
				to === null
					? m.staff_view_now({ from: moment(from, timeZone) })
					: m.staff_view_time({ from: moment(from, timeZone), to: moment(to, timeZone) })
		})),
		viewPages,
		done: done[event.url.searchParams.get('done') ?? '']?.() ?? null
	};
}

const employerOf = (visitor: OwnerVisitor): Employer => ({
	employerId: visitor.owner.id,
	by: authorOf(visitor).by
});

const roleOf = (field: Fields) => STAFF_ROLES.find((role) => role === field('role'));

const NOBODY = { email: '', role: 'cashier' as StaffRole, problem: null, sent: null };

const refused = (status: number, problem: string, entry: { email?: string; role?: StaffRole } = {}) =>
	fail(status, { ...NOBODY, ...entry, problem });

/**
 * Sends an invitation by email: only the person of the address can accept it. The answer does not tell whether the
 * address has an account.
 */
export async function answerInvite(event: RequestEvent, visitor: OwnerVisitor) {
	const { app } = event.locals;
	const { field } = await readFields(event.request);
	const email = field('email').trim();
	const role = roleOf(field) ?? 'cashier';
	const entry = { email, role };
	if (!isEmail(email)) return refused(400, m.owner_email_incomplete(), entry);
	if (findMailProblem(app.signIn) !== null) return refused(503, m.owner_mail_off(), entry);
	const tooMany = await tooManyMails(event, email, visitor.account.id);
	if (tooMany) return refused(429, tooMany.data.problem, entry);
	const invited = await attempt(() => inviteStaff(app, entry, employerOf(visitor)));
	if (!(invited instanceof Refused)) return sendInvitation(event, visitor, invited);
	const isFull = invited.reason === 'full';
	return refused(409, isFull ? m.staff_full({ count: numberText(MAX_STAFF) }) : m.staff_known(), entry);
}

/** Sends another link, after which the first does not work. */
export async function inviteAgain(event: RequestEvent, visitor: OwnerVisitor) {
	const { app } = event.locals;
	const id = idOf((await readFields(event.request)).field('id'));
	const invitations = await listInvitations(app, visitor.owner.id);
	const invitation = invitations.find((one) => one.id === id);
	if (!invitation) return refused(409, m.staff_gone());
	if (findMailProblem(app.signIn) !== null) return refused(503, m.owner_mail_off());
	const tooMany = await tooManyMails(event, invitation.email, visitor.account.id);
	return tooMany ? refused(429, tooMany.data.problem) : sendInvitation(event, visitor, invitation);
}

/** In the language of the owner. */
function sendInvitation(
	{ locals: { app, origin } }: RequestEvent,
	visitor: OwnerVisitor,
	{ id, email, staff_role }: Invitation
) {
	const words = { owner: visitor.owner.email, role: roleWords(staff_role).name };
	const subject = m.staff_mail_subject(words);
	const [text, once, ignore] = [m.staff_mail_text(words), m.staff_mail_once(), m.staff_mail_ignore(words)];
	const refusal = m.staff_mail_taken(words);
	mailInvitation(
		app.signIn,
		{ id, email },
		{
			origin,
			write(url) {
				const { pathname, search } = new URL(url);
				const lines = [text, '', origin + link(pathname + search), '', once, '', ignore];
				return { subject, text: lines.join('\n') };
			},
			writeRefusal: () => ({ subject, text: refusal })
		}
	);
	return { ...NOBODY, sent: m.staff_sent({ email: apart(email) }) };
}

export async function answerWithdraw(event: RequestEvent, visitor: OwnerVisitor) {
	const { field } = await readFields(event.request);
	const { app } = event.locals;
	if (!(await withdrawInvitation(app, idOf(field('id')), employerOf(visitor)))) {
		return refused(409, m.staff_gone());
	}
	redirect(303, `${link('/owner/settings')}?done=withdraw#staff`);
}

export async function changeRole(event: RequestEvent, visitor: OwnerVisitor) {
	const { field } = await readFields(event.request);
	const role = roleOf(field);
	if (!role) return refused(400, m.owner_problem());
	const { app } = event.locals;
	if (!(await changeStaffRole(app, idOf(field('id')), role, employerOf(visitor)))) {
		return refused(409, m.staff_gone());
	}
	redirect(303, `${link('/owner/settings')}?done=role#staff`);
}

/** Also ends the person's sign-in sessions. */
export async function removePerson(event: RequestEvent, visitor: OwnerVisitor) {
	const { field } = await readFields(event.request);
	const { app } = event.locals;
	const removed = await removeStaff(app, idOf(field('id')), employerOf(visitor));
	if (!removed) return refused(409, m.staff_gone());
	await forgetUser(app.signIn, removed);
	redirect(303, `${link('/owner/settings')}?done=remove#staff`);
}

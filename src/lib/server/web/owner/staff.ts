import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { isEmail } from '#lib/domain/email.ts';
import { moment } from '#lib/format/text.ts';
import { link } from '#lib/i18n/current.ts';
import { apart, numberText } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import {
	MAX_STAFF,
	STAFF_ROLES,
	StaffRefused,
	type Account,
	type Employer,
	type StaffRole
} from '../../accounts/accounts.ts';
import { attempt } from '../../platform/errors.ts';
import { readFields, type Fields } from '../form.ts';
import { idOf, readPage } from '../page-links.ts';
import { inviteWithoutPassword, mayInvite } from '../sign-in/password-links.ts';
import { authorOf, type OwnerVisitor } from './owner.ts';

export function roleWords(role: StaffRole): { name: string; text: string } {
	switch (role) {
		case 'cashier':
			return { name: m.staff_cashier(), text: m.staff_cashier_text() };
		case 'manager':
			return { name: m.staff_manager(), text: m.staff_manager_text() };
	}
}

const VIEWS_PER_PAGE = 20;

/** /owner/staff?before=ID: the views of administrators before this one. */
export async function staffPage(event: RequestEvent, { owner }: OwnerVisitor) {
	const { app } = event.locals;
	const [people, { rows: views, pages: viewPages }] = await Promise.all([
		app.accounts.staffOf(owner.id),
		readPage(event, { parameter: 'before', length: 1, anchor: '#views' }, (before) =>
			app.ownerViews.ofOwner(owner.id, { before, limit: VIEWS_PER_PAGE })
		)
	]);
	const passwords = await Promise.all(people.map((person) => app.signIn.passwordState(person)));
	const { reportTimezone: timeZone } = app.config;
	const done: Record<string, () => string> = { role: m.staff_changed, remove: m.staff_removed };
	return {
		roles: STAFF_ROLES.map((role) => ({ role, ...roleWords(role) })),
		people: people.map(({ id, email, staff_role: role }, index) => ({
			...{ id, email, role: role ?? 'cashier' },
			roleName: roleWords(role ?? 'cashier').name,
			removeText: m.staff_remove_text({ email: apart(email) }),
			isWaiting: passwords[index]?.hasPassword === false,
			mayInvite: mayInvite(event, passwords[index] ?? { hasPassword: true })
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

const NO_LINK = { email: '', role: 'cashier' as StaffRole, problem: null, link: null };

const refused = (status: number, problem: string, entry: { email?: string; role?: StaffRole } = {}) =>
	fail(status, { ...NO_LINK, ...entry, problem });

/** Adds a person and shows the invitation once. A form that is sent twice shows another link of the same person. */
export async function inviteStaff(event: RequestEvent, visitor: OwnerVisitor) {
	const { app } = event.locals;
	const { field } = await readFields(event.request);
	const email = field('email').trim();
	const role = roleOf(field) ?? 'cashier';
	if (!isEmail(email)) return refused(400, m.owner_email_incomplete(), { email, role });
	const added = await attempt(StaffRefused, () =>
		app.accounts.addStaff({ email, role }, employerOf(visitor))
	);
	if (added instanceof StaffRefused) {
		const isFull = added.reason === 'full';
		const text = isFull ? m.staff_full({ count: numberText(MAX_STAFF) }) : m.staff_taken();
		return refused(409, text, { email, role });
	}
	// A former employer may have set the password.
	if (added.isNew) await app.signIn.forget(added.person);
	return invitation(event, visitor, added.person);
}

/** Shows another link for a person who has no password. */
export async function newInvitation(event: RequestEvent, visitor: OwnerVisitor) {
	const id = idOf((await readFields(event.request)).field('id'));
	const people = await event.locals.app.accounts.staffOf(visitor.owner.id);
	const person = people.find((one) => one.id === id);
	return person ? invitation(event, visitor, person) : refused(409, m.staff_gone());
}

async function invitation(event: RequestEvent, visitor: OwnerVisitor, person: Account) {
	const made = await inviteWithoutPassword(event, person, authorOf(visitor));
	const { app } = event.locals;
	const now = await app.accounts.find(person.id);
	if (now?.employer_id !== visitor.owner.id) {
		// Removed meanwhile: the link must not work for the next employer.
		await app.signIn.forget(person);
		return refused(409, m.staff_gone());
	}
	if (made === null) return refused(409, m.staff_has_password());
	const { origin, pathname, search } = new URL(made);
	// In the language of the owner.
	return { ...NO_LINK, email: person.email, link: origin + link(pathname + search) };
}

export async function changeRole(event: RequestEvent, visitor: OwnerVisitor) {
	const { field } = await readFields(event.request);
	const role = roleOf(field);
	if (!role) return refused(400, m.owner_problem());
	const { accounts } = event.locals.app;
	if (!(await accounts.changeStaffRole(idOf(field('id')), role, employerOf(visitor)))) {
		return refused(409, m.staff_gone());
	}
	redirect(303, link('/owner/staff?done=role'));
}

/** Also ends the person's sign-in sessions. */
export async function removePerson(event: RequestEvent, visitor: OwnerVisitor) {
	const { field } = await readFields(event.request);
	const { app } = event.locals;
	const removed = await app.accounts.removeStaff(idOf(field('id')), employerOf(visitor));
	if (!removed) return refused(409, m.staff_gone());
	await app.signIn.forget(removed);
	redirect(303, link('/owner/staff?done=remove'));
}

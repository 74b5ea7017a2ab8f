import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { Refused } from '../../platform/errors.ts';
import type { Author } from '../../audit.ts';
import { readFields, type Fields } from '../form.ts';
import type { Visitor } from '../sign-in/sign-in.ts';
import { actorOf, adminForm, readReason } from './admin.ts';

interface Order<Subject> {
	event: RequestEvent;
	admin: Visitor;
	subject: Subject;
	author: Author;
	field: Fields;
}

/** `done` leads back to the page. */
type Outcome =
	| 'done'
	| { leadTo: string }
	/** Shown once. */
	| { link: string }
	| { status: number; problem: string };

/** A change of an account or a router that needs a reason, with the texts of its form. */
export interface Change<Subject, Facts = Subject> {
	title: string;
	text: string;
	button: string;
	isDangerous?: boolean;
	isOffered(facts: Facts): boolean;
	/** The sentence that the page shows afterwards; false if another change has undone it. */
	done?(facts: Facts): string | false;
	/** A second click changes nothing. */
	run(order: Order<Subject>): Promise<Outcome>;
}

type Changes<Subject, Facts> = Readonly<Record<string, Change<Subject, Facts>>>;

/** Returns the forms of a page, and the sentence about the change that its address names. */
export const changesOf = <Facts>({ url }: RequestEvent, changes: Changes<never, Facts>, facts: Facts) => ({
	changes: Object.entries(changes)
		.filter(([, change]) => change.isOffered(facts))
		.map(([name, { title, text, button, isDangerous }]) => ({ name, title, text, button, isDangerous })),
	done: new Map(Object.entries(changes)).get(url.searchParams.get('done') ?? '')?.done?.(facts) || null
});

/** Makes the form action of a change. */
export const changeForm = <Event extends RequestEvent, Subject>(
	which: string,
	{ run }: Change<Subject, never>,
	find: (event: Event, admin: Visitor) => Promise<Subject>
) =>
	adminForm(async (event: Event, admin) => {
		const subject = await find(event, admin);
		const { field } = await readFields(event.request);
		const { note, problem } = readReason(field);
		const answer = { which, note, problem: null, link: null };
		if (problem !== null) return fail(400, { ...answer, problem });
		const author = { by: actorOf(admin), note };
		const outcome = await run({ event, admin, subject, author, field }).catch((refusal: unknown) => {
			if (refusal instanceof Refused && refusal.reason === 'refused')
				return { status: 409, problem: refusal.message };
			throw refusal;
		});
		if (outcome === 'done') redirect(303, `${event.url.pathname}?done=${which}`);
		if ('leadTo' in outcome) redirect(303, outcome.leadTo);
		return 'link' in outcome
			? { ...answer, ...outcome }
			: fail(outcome.status, { ...answer, problem: outcome.problem });
	});

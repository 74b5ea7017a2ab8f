import { fail, type ActionFailure, type RequestEvent } from '@sveltejs/kit';

/** Fails a form that was sent too often, with the time to wait. */
export function tooOften<Entry extends object>(
	event: RequestEvent,
	seconds: number,
	entry: Entry
): ActionFailure<Entry & { problem: string }> {
	event.setHeaders({ 'retry-after': String(seconds) });
	const time = `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
	return fail(429, { ...entry, problem: `Too many attempts. Wait ${time}, then try again.` });
}

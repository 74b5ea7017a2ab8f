/** Every event went out; a second time only as the same event, because a sender may die before it has noted the answer. */
import type { Receiver } from '../support/api/receiver.ts';
import type { Sql } from '../support/database/sql.ts';
import { advance, untilQuiet, type Clocks } from './time.ts';

export const HOOK = '/hook';

export const EVENTS = [
	...['payment.success', 'payment.failed', 'payment.refunded'],
	...['session.created', 'session.activated', 'session.expired', 'session.ended', 'session.cancelled']
];

/** Deliveries that failed are tried again within a day. */
const MAX_STEPS = 60;
const STEP_MS = 30 * 60_000;

/** @returns what is wrong about the deliveries to a receiver that is registered for all events */
export async function judgeWebhooks(receiver: Receiver, clocks: Clocks, sql: Sql): Promise<string[]> {
	const waiting = () => sql.count("select count(*) from webhook_deliveries where status = 'pending'");
	await untilQuiet(clocks.server, sql);
	for (let steps = 0; steps < MAX_STEPS && (await waiting()) > 0; steps += 1) {
		await advance(clocks, STEP_MS);
		await untilQuiet(clocks.server, sql);
	}
	const sent = new Map<string, string>();
	const wrong: string[] = [];
	for (const { raw } of receiver.at(HOOK)) {
		const { id } = JSON.parse(raw) as { id: string };
		if ((sent.get(id) ?? raw) !== raw) wrong.push(`event ${id} went out with two bodies`);
		sent.set(id, raw);
	}
	const recorded = new Set((await sql.all('select id from events')).map(({ id }) => String(id)));
	const missing = [...recorded].filter((id) => !sent.has(id));
	const made = [...sent.keys()].filter((id) => !recorded.has(id));
	if (missing.length > 0)
		wrong.push(`${missing.length} events never went out, such as ${String(missing[0])}`);
	if (made.length > 0) wrong.push(`${made.length} events went out that never happened`);
	return wrong;
}

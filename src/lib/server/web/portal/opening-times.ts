import type { RequestEvent } from '@sveltejs/kit';
import { momentText } from '#lib/format/when.ts';
import * as m from '#lib/i18n/messages.js';
import type { RouterBody } from '#lib/server/contract/router.ts';

/** Returns when the closed ones of these routers open automatically, as text by id. Others are missing. */
export async function openingTexts(
	{ locals: { app } }: Pick<RequestEvent, 'locals'>,
	routers: readonly { id: number; status: string }[]
): Promise<Map<number, string>> {
	const { openingTimes, clock, config } = app;
	const closed = routers.filter(({ status }) => status !== 'online');
	if (openingTimes === null || closed.length === 0) return new Map();
	const times = await openingTimes(closed.map(({ id }) => id));
	const now = new Date(clock.now());
	return new Map([...times].map(([id, at]) => [id, momentText(new Date(at), now, config.reportTimezone)]));
}

/** Says that the owner has closed a router, and until when. Returns null if it is not closed. */
export async function closedText(
	event: Pick<RequestEvent, 'locals'>,
	router: RouterBody | null
): Promise<string | null> {
	if (router?.status_reason !== 'closed') return null;
	const time = (await openingTexts(event, [router])).get(router.id);
	return time === undefined ? m.router_closed() : m.router_closed_until({ time });
}

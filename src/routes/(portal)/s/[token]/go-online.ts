import { redirect, type RequestEvent } from '@sveltejs/kit';
import { link } from '#lib/language/current.ts';

/** Time to read or copy the password before a mini-browser goes online, and maybe closes. */
const AUTOMATIC_SECONDS = 12;

/** What the page of a paid purchase says about going online on this device. */
export interface GoOnline {
	/** `offer`: it can be signed in. `tried`: it was already. `refused`: the gateway said no. */
	state: 'offer' | 'tried' | 'refused' | 'online' | 'waits';
	problem: string | null;
	/** Where a link, or the page by itself, goes. */
	address: string;
	/** Seconds until it goes there by itself; null when it does not. */
	automaticSeconds: number | null;
}

type Event = RequestEvent<{ token: string }>;

/** `?visit=` of who found this purchase by its code at a gateway: from now on it lets that visit's device online. */
export async function adoptVisit(event: Event): Promise<void> {
	const visit = event.request.method === 'GET' ? event.url.searchParams.get('visit') : null;
	if (visit === null) return;
	const { token } = event.params;
	await event.locals.app.visits.bind(visit, token);
	redirect(303, link(`/s/${token}`));
}

/** For a purchase whose time runs, at its router. @returns null for one that came through no gateway of it */
export async function goOnline(event: Event, routerId: number): Promise<GoOnline | null> {
	const { token } = event.params;
	const visit = await event.locals.app.visits.ofPurchase({ token, routerId });
	if (!visit) return null;
	const { entry, how, tried } = visit;
	const asked = event.url.searchParams;
	const page = link(`/s/${token}`);
	const told = { problem: entry.problem, address: `${page}/online`, automaticSeconds: null };
	// A gateway that refuses sends the browser to us with a new visit, which has not been tried.
	const isBack = asked.has('online') && tried === 'here';
	if (entry.state === 'online' || (how === 'navigate' && isBack)) return { ...told, state: 'online' };
	if (how === 'waits') return { ...told, state: 'waits', address: page };
	if (entry.problem !== null && tried !== 'here') return { ...told, state: 'refused' };
	if (tried !== null) return { ...told, state: 'tried' };
	const stays = asked.has('stay') || event.request.method === 'POST';
	return { ...told, state: 'offer', automaticSeconds: stays ? null : AUTOMATIC_SECONDS };
}

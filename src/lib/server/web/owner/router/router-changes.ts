import type { RequestEvent } from '@sveltejs/kit';
import { toMajor } from '#lib/domain/money.ts';
import { money, pastMoment } from '#lib/format/text.ts';
import * as m from '#lib/i18n/messages.js';
import { type FoundEntry, accountIdOf } from '../../../audit.ts';
import type { OwnedRouter } from '../../../routers/routers.ts';
import type { OwnerVisitor } from '../owner.ts';
import { findAccount } from '../../../accounts/accounts.ts';

const SHOWN = 10;

const WORDS: Readonly<Record<string, () => string>> = {
	'router.disabled': m.owner_changed_disabled,
	'router.enabled': m.owner_changed_enabled,
	'router.access_confirmed': m.owner_changed_confirmed,
	'router.access_withdrawn': m.owner_changed_withdrawn,
	'router.access_changed': m.owner_access,
	'router.offers_changed': m.owner_offers,
	'router.changed': m.owner_changed_details
};

const wordsOf = (action: string): string =>
	(WORDS[action] ?? (action.startsWith('gateway.') ? m.usage_gateways : m.owner_changed_details))();

/** What administrators have changed at a router, newest first: who, what, when and why. */
export async function changesOfAdministrators(
	{ locals: { app } }: RequestEvent,
	{ id, currency }: OwnedRouter,
	{ owner }: OwnerVisitor
) {
	const [now, timeZone] = [app.clock.now(), app.config.reportTimezone];
	const filter = { actor: null, action: null, paymentId: null, routerId: id, from: 0, to: now + 1 };
	const { entries } = await app.audit.search(
		app.database.db,
		{ ...filter, isOfPeople: true, notOfOwner: owner.id },
		{ after: null, limit: SHOWN }
	);
	return Promise.all(
		entries.map(async (entry) => {
			const account = await findAccount(app, accountIdOf(entry.actor) ?? 0);
			return {
				id: entry.id,
				when: pastMoment(entry.at, { now, timeZone }),
				who: account?.email ?? entry.actor,
				reason: entry.reason,
				...whatOf(entry, currency)
			};
		})
	);
}

/** Name of the change, and "old → new" of each text or price that has changed. */
function whatOf({ action, before, after }: FoundEntry, currency: string): { what: string; values: string[] } {
	const [old, now] = [before, after].map((text) => JSON.parse(text) as Record<string, unknown>);
	const valueOf = (name: string, value: unknown) =>
		name === 'price_minor' && typeof value === 'number' ? money(toMajor(value, currency), currency) : value;
	const values = Object.keys(now ?? {}).flatMap((name) => {
		const [from, to] = [valueOf(name, old?.[name]), valueOf(name, now?.[name])];
		const isShown = typeof from === 'string' && typeof to === 'string' && from !== to;
		return isShown ? [`${from || '–'} → ${to || '–'}`] : [];
	});
	const isPrice = action === 'router.changed' && now !== undefined && 'price_minor' in now;
	return { what: isPrice ? m.owner_price() : wordsOf(action), values };
}

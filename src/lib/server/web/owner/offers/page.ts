import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { formatDuration, NEW_HOURLY_MAX } from '#lib/domain/duration.ts';
import { priceForSeconds, toMajor, toMinor } from '#lib/domain/money.ts';
import type { OfferField, OffersDraft } from '#lib/domain/offers/entry.ts';
import { WEEKDAYS } from '#lib/domain/time/opening-hours.ts';
import { money, weekdayName } from '#lib/format/text.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { formatCells, readCells, readOwnOffers, replaceOffers } from '#lib/server/offers.ts';
import { AppError, attempt } from '#lib/server/platform/errors.ts';
import { type OwnedRouter, listOwnedRouters } from '../../../routers/routers.ts';
import { readFields } from '../../form.ts';
import { idOf } from '../../page-links.ts';
import { cellsOfDraft, changedRows, draftOf, maxDurationOf, readDraft, sellsLong } from './draft.ts';
import { draftWithSet, setsOf } from './sets.ts';
import { offerProblem, type OfferPlace } from './problems.ts';
import type { OwnerVisitor } from '../owner.ts';

type Actor = OwnerVisitor['actor'];

/** The page after a button. */
interface Shown {
	draft: OffersDraft | null;
	/** Above the form. */
	problem: string | null;
	/** By row and field. */
	errors: Readonly<Record<number, Partial<Record<OfferField, string>>>>;
	/** The result for each router to which the offers were copied. */
	copied: readonly { name: string; text: string; isDone: boolean }[];
}

const NOTHING: Shown = { draft: null, problem: null, errors: {}, copied: [] };
const DAY_SECONDS = 24 * 60 * 60;
/** Routers to which offers can be copied at once. */
const MAX_COPIES = 100;

export async function offersPage(
	{ url, locals: { app } }: RequestEvent,
	router: OwnedRouter,
	owner: OwnerVisitor
) {
	const list = await readOwnOffers(app.offers, owner.actor, router.id);
	const others = await otherRouters(app, owner.actor, router.id);
	const draft = draftOf(list);
	const isNew = list.data.length === 0;
	return {
		id: router.id,
		name: router.name,
		currency: router.currency,
		perHour: money(router.price, router.currency),
		limit: formatDuration(NEW_HOURLY_MAX),
		longDay: money(
			toMajor(priceForSeconds(toMinor(router.price, router.currency) ?? 1, DAY_SECONDS), router.currency),
			router.currency
		),
		draft: isNew ? draftWithSet(draft, url.searchParams.get('set'), router) : draft,
		sets: isNew ? await setsOf(app, owner, draft, router) : [],
		saved: list.data.length,
		days: WEEKDAYS.map((day, index) => ({ day, name: weekdayName(index) })),
		others: others.map(({ id, name }) => ({ id, name })),
		done: url.searchParams.has('done')
	};
}

/** Does what the pressed button says. Only `save` and `copy` change offers. */
export async function offersAction(event: RequestEvent, router: OwnedRouter, { actor }: OwnerVisitor) {
	const fields = await readFields(event.request);
	const button = fields.field('do');
	if (button === 'copy') return copyOffers(event, router, { actor, ids: fields.all('router').map(idOf) });
	const draft = readDraft(fields);
	if (button !== 'save') {
		return { ...NOTHING, draft: { ...draft, rows: changedRows(draft.rows, button) } };
	}
	const { offers } = event.locals.app;
	try {
		const { hourly, version } = draft;
		const max_duration = maxDurationOf(draft, router);
		const { cells } = cellsOfDraft(draft);
		const list = readCells(cells, { hourly, max_duration, version }, router.currency);
		await replaceOffers(offers, actor, router.id, list);
	} catch (refused) {
		if (!(refused instanceof AppError)) throw refused;
		if (refused.code !== 'offers_changed')
			return fail(400, refusal(refused, draft, await placeOf(event, router)));
		const current = await readOwnOffers(offers, actor, router.id);
		const isSame =
			JSON.stringify(current.data.map(formatCells)) === JSON.stringify(cellsOfDraft(draft).cells);
		// Otherwise somebody else changed them; if they are the same, the form was sent twice.
		if (!isSame || current.hourly !== draft.hourly || sellsLong(current) !== draft.long) {
			const problem = m.owner_offers_moved();
			return fail(409, { ...NOTHING, draft: { ...draft, version: current.version }, problem });
		}
	}
	redirect(303, `${link(`/owner/routers/${router.id}/offers`)}?done`);
}

const placeOf = async ({ locals: { app } }: RequestEvent, router: OwnedRouter): Promise<OfferPlace> => ({
	router,
	gateways: await app.gateways.ofRouters([router.id])
});

function refusal({ items }: AppError, draft: OffersDraft, place: OfferPlace): Shown {
	const { cells, rowIndexes } = cellsOfDraft(draft);
	const errors: Record<number, Partial<Record<OfferField, string>>> = {};
	let problem: string | null = items ? null : m.owner_problem();
	for (const item of items ?? []) {
		const { index, field, text } = offerProblem(item, cells, place);
		const row = index === null ? undefined : rowIndexes[index];
		if (row === undefined || field === null) problem ??= text;
		else errors[row] = { [field]: text, ...errors[row] };
	}
	return { ...NOTHING, draft, errors, problem: problem ?? m.owner_check_fields() };
}

/** Copies the saved offers. Each router is checked on its own. */
async function copyOffers(
	event: RequestEvent,
	router: OwnedRouter,
	{ actor, ids }: { actor: Actor; ids: readonly number[] }
): Promise<Shown> {
	const { app } = event.locals;
	const { hourly, max_duration, data } = await readOwnOffers(app.offers, actor, router.id);
	const cells = data.map(formatCells);
	const list = readCells(cells, { hourly, max_duration }, router.currency);
	const copied: Shown['copied'][number][] = [];
	for (const other of (await otherRouters(app, actor, router.id)).filter(({ id }) => ids.includes(id))) {
		const { name } = other;
		const refused = await attempt(AppError, () => replaceOffers(app.offers, actor, other.id, list));
		if (!(refused instanceof AppError)) {
			copied.push({ name, text: m.owner_offers_copied({ name }), isDone: true });
		} else {
			const [item] = refused.items ?? [];
			const reason = item ? offerProblem(item, cells, await placeOf(event, other)).text : m.owner_problem();
			copied.push({ name, text: m.owner_offers_not_copied({ name, reason }), isDone: false });
		}
	}
	return { ...NOTHING, copied };
}

async function otherRouters({ routers }: App.Locals['app'], { accountId }: Actor, id: number) {
	const { data } = await listOwnedRouters(routers, accountId, { afterId: 0, limit: MAX_COPIES });
	return data.filter((router) => router.id !== id);
}

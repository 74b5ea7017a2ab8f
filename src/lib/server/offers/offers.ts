import { toMajor, toMinor } from '#lib/domain/money.ts';
import { limitsOf } from '#lib/domain/offers/offer-limits.ts';
import { readLine } from '#lib/domain/plain-text.ts';
import type { OffersUpdateBody, OwnerOfferListBody } from '../contract/offer.ts';
import type { Operators } from '../billing/operators/registry.ts';
import type { Base } from '../base.ts';
import type { Queries } from '../db/database.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';
import type { Gateways, RegisteredGateway } from '../gateways/gateways.ts';
import { binder } from '../platform/bind.ts';
import { isoTime } from '../platform/clock.ts';
import { AppError, InputError, validationFailed } from '../platform/errors.ts';
import {
	findLastOfferChange,
	formatOffers,
	isPayable,
	readOffers,
	saveOffers,
	type Offer
} from '../routers/offers.ts';
import { type PriceSetter, recordForOwner } from '../routers/edit-router.ts';
import {
	type RouterRow,
	type Routers,
	findChangeableRouter,
	findRouterOrThrow,
	listPaymentMethods
} from '../routers/routers.ts';
import { limitProblems } from './limits.ts';
import { offerProblems, termsKey } from './rules.ts';

interface OffersContext extends Base {
	routers: Routers;
	gateways: Gateways;
	operators: Operators;
}

type Actor = Pick<Caller, 'accountId' | 'role'>;
/** `keyId` and `personId`: as for prices. */
type OfferSetter = Actor & Pick<PriceSetter, 'keyId' | 'personId' | 'reason'>;

export type Offers = ReturnType<typeof createOffers>;

/** The offers of routers, as their owners edit them. Orders read them through `routers`. */
export function createOffers(context: OffersContext) {
	const bind = binder(context);
	return {
		ofRouter: bind(offersOfRouter),
		/** Checks a new list without setting it. @throws AppError as `set`, without `offers_changed` */
		check: (actor: Actor, routerId: number, list: OffersUpdateBody): Promise<RouterRow> =>
			checked(context, context.database.db, actor, { routerId, list }),
		set: bind(setOffers),
		heldProblem: bind(heldProblem),
		checkHeld: bind(checkHeld)
	};
}

/** @throws AppError `router_not_found | not_router_owner` */
async function offersOfRouter(
	context: OffersContext,
	actor: Actor,
	routerId: number
): Promise<OwnerOfferListBody> {
	const { db } = context.database;
	return listBody(context, db, await findChangeableRouter(db, actor, routerId));
}

async function checked(
	context: OffersContext,
	queries: Queries,
	actor: Actor,
	{ routerId, list }: { routerId: number; list: OffersUpdateBody }
): Promise<RouterRow> {
	const { routers, gateways } = context;
	const router = await findChangeableRouter(queries, actor, routerId);
	const methods = listPaymentMethods(routers, router);
	const problems = offerProblems(list, {
		...{ router, gateways: await gateways.ofRouter(queries, routerId) },
		isPayable: (amountMinor) => isPayable(context, methods, amountMinor)
	});
	if (problems.length > 0) throw validationFailed(problems);
	return router;
}

/**
 * Replaces the offers of a router. Sessions that were ordered keep theirs.
 * @throws AppError `router_not_found | not_router_owner | offers_changed | validation_failed`
 */
function setOffers(
	context: OffersContext,
	setter: OfferSetter,
	routerId: number,
	list: OffersUpdateBody
): Promise<OwnerOfferListBody> {
	const { database, clock, routers } = context;
	return database.transact(async (trx) => {
		const router = await checked(context, trx, setter, { routerId, list });
		const { offers, lastOfferId } = numbered(list, router, readOffers(routers, router));
		const text = formatOffers(offers);
		// A repeated request, whose first response was lost, is no change.
		const { max_duration: maxDuration = router.max_duration } = list;
		const isHourlySame = list.hourly === (router.hourly === 1) && maxDuration === router.max_duration;
		if (text === router.offers && isHourlySame) return listBody(context, trx, router);
		const last = await findLastOfferChange(trx, routerId);
		if (list.version !== undefined && list.version !== (last?.id ?? 0)) {
			throw new AppError('offers_changed', 'Somebody has changed the offers since you read them.');
		}
		const row = await saveOffers(trx, router, {
			...{ offers: text, hourly: list.hourly, maxDuration, lastOfferId },
			...{ accountId: setter.personId ?? setter.accountId, keyId: setter.keyId, now: clock.now() }
		});
		const named = (list: readonly Offer[]) => ({ offers: list.map(({ name }) => name).join(', ') });
		await recordForOwner(context, trx, setter, {
			...{ router, action: 'router.offers_changed' },
			...{ before: named(readOffers(routers, router)), after: named(offers) }
		});
		return listBody(context, trx, row);
	});
}

/** A router's differences after a change. null: there was, or will be, no such gateway. */
interface RouterChange {
	/** The router before. */
	router?: RouterRow;
	gateway?: Record<'before' | 'after', RegisteredGateway | null>;
}

/**
 * @param router as it will be
 * @returns why it and its gateways will no longer hold a limit that it sells; null if they will
 */
async function heldProblem(
	{ routers, gateways }: OffersContext,
	queries: Queries,
	router: RouterRow,
	{ router: routerBefore = router, gateway = { before: null, after: null } }: RouterChange = {}
): Promise<string | null> {
	const offers = readOffers(routers, router).filter(({ active }) => active);
	if (offers.length === 0) return null;
	const { before, after } = gateway;
	const others = (await gateways.ofRouter(queries, router.id)).filter(
		({ id }) => id !== before?.id && id !== after?.id
	);
	const at = (one: RegisteredGateway | null) => (one?.routerId === router.id ? [...others, one] : others);
	for (const offer of offers) {
		// A limit that was not held before does not refuse this change.
		const known = limitProblems(offer, routerBefore, at(before)).map(({ field }) => field);
		const problem = limitProblems(offer, router, at(after)).find(({ field }) => !known.includes(field));
		if (!problem) continue;
		return `router ${router.id} sells "${offer.name}" with a limit. ${problem.detail} Change the offer or set it inactive first.`;
	}
	return null;
}

/**
 * Runs in the transaction that changes gateways, or how buyers connect.
 * @throws InputError with `field` if the gateways no longer hold a limit that the router sells
 */
async function checkHeld(
	context: OffersContext,
	queries: Queries,
	routerId: number,
	{ field = 'router', ...change }: RouterChange & { field?: string }
): Promise<void> {
	const router = await findRouterOrThrow(queries, routerId);
	const reason = await heldProblem(context, queries, router, change);
	if (reason !== null) throw new InputError([{ field, reason }]);
}

/** Gives each offer its id: the present one if its terms are unchanged, otherwise a new one. */
function numbered({ offers }: OffersUpdateBody, router: RouterRow, before: readonly Offer[]) {
	const ids = new Map(before.map((offer) => [termsKey({ ...offer, price: offer.price_minor }), offer.id]));
	let lastOfferId = router.last_offer_id;
	const list = offers.map((offer): Offer => {
		const price_minor = toMinor(offer.price, router.currency);
		if (price_minor === null) throw new Error(`Price ${offer.price} does not fit ${router.currency}`);
		const id = ids.get(termsKey({ ...offer, price: price_minor })) ?? (lastOfferId += 1);
		return {
			...{ id, name: readLine(offer.name), duration: offer.duration, price_minor },
			...limitsOf(offer),
			...{ days: offer.days ?? null, from: offer.from ?? null, until: offer.until ?? null },
			active: offer.active
		};
	});
	return { offers: list, lastOfferId };
}

async function listBody(
	{ config, routers }: OffersContext,
	queries: Queries,
	router: RouterRow
): Promise<OwnerOfferListBody> {
	const last = await findLastOfferChange(queries, router.id);
	const data = readOffers(routers, router).map(({ price_minor, days, ...offer }) => ({
		...offer,
		price: toMajor(price_minor, router.currency),
		days: days && [...days]
	}));
	return {
		...{ router_id: router.id, hourly: router.hourly === 1, max_duration: router.max_duration },
		version: last?.id ?? 0,
		...{ currency: router.currency, timezone: config.reportTimezone, data },
		...{ changed_at: isoTime(last?.changed_at ?? null), changed_by: last?.email ?? null }
	};
}

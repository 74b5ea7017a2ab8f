import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { currencyName } from '#lib/domain/money.ts';
import { type PricedRouter, quote } from '#lib/purchase/quote.ts';
import { formatDuration } from '#lib/domain/duration.ts';
import { money } from '#lib/format/text.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { PriceMoved, changePrice } from '#lib/server/routers/edit-router.ts';
import type { OwnedRouter } from '#lib/server/routers/routers.ts';
import { readFields } from '../../form.ts';
import type { OwnerVisitor } from '../owner.ts';
import { readTypedPrice } from '../router/router-form.ts';

const SHOWN = ['30m', '1h', '3h', '1d', '1w'];

/** Reads a new price. `setPrice` of the service checks the same rules again. */
function readNewPrice(text: string, { price: current, currency }: PricedRouter, maxPrice: number) {
	const typed = readTypedPrice(text, { currency, maxPrice });
	if ('problem' in typed) return { price: null, problem: typed.problem };
	return { price: typed.price, problem: typed.price === current ? m.owner_price_same() : null };
}

function effectOf(router: PricedRouter, price: number) {
	// Offers have prices of their own.
	const hourly = { ...router, offers: [], hourly: true };
	return SHOWN.flatMap((time) => {
		const [now, then] = [quote(hourly, time), quote({ ...hourly, price }, time)];
		if (!now || !then) return [];
		const [before, after] = [money(now.amount, router.currency), money(then.amount, router.currency)];
		return [{ time: formatDuration(time), before, after }];
	});
}

/** Asks for a price; with `?price=` shows its effect and asks for confirmation. */
export function pricePage(event: RequestEvent, router: OwnedRouter) {
	const typed = event.url.searchParams.get('price');
	const { price, problem } =
		typed === null
			? { price: null, problem: null }
			: readNewPrice(typed, router, event.locals.app.config.maxPrice);
	const wanted = problem === null ? price : null;
	return {
		id: router.id,
		name: router.name,
		price: router.price,
		currency: currencyName(router.currency),
		now: money(router.price, router.currency),
		typed: typed ?? '',
		problem,
		wanted:
			wanted === null
				? null
				: { price: wanted, money: money(wanted, router.currency), effect: effectOf(router, wanted) }
	};
}

const moved = (price: number, currency: string) =>
	fail(409, { problem: m.owner_price_moved({ money: money(price, currency) }) });

export async function setPrice(event: RequestEvent, router: OwnedRouter, { actor }: OwnerVisitor) {
	const { field } = await readFields(event.request);
	const { price, problem } = readNewPrice(field('price'), router, event.locals.app.config.maxPrice);
	if (field('from') !== String(router.price)) {
		// The form was sent twice.
		if (price === router.price) redirect(303, link(`/owner/routers/${router.id}?done=price`));
		return moved(router.price, router.currency);
	}
	if (problem !== null || price === null)
		return fail(400, { problem: problem ?? m.owner_price_not_number() });
	try {
		await changePrice(event.locals.app.routers, actor, router.id, price, router.price);
	} catch (refused) {
		if (refused instanceof PriceMoved) return moved(refused.price, router.currency);
		if (!(refused instanceof AppError)) throw refused;
		return fail(refused.status, { problem: refused.items?.[0]?.detail ?? refused.message });
	}
	redirect(303, link(`/owner/routers/${router.id}?done=price`));
}

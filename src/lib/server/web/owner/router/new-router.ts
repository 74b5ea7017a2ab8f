import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { formatDuration, NEW_HOURLY_MAX } from '#lib/domain/duration.ts';
import { currencyName } from '#lib/domain/money.ts';
import { link } from '#lib/i18n/current.ts';
import { numberText } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { attempt, InputError } from '#lib/server/platform/errors.ts';
import { PURCHASE_TOKEN_PATTERN, purchaseToken } from '#lib/server/platform/ids.ts';
import { MAX_UNCONNECTED_ROUTERS, createOwnedRouter } from '#lib/server/routers/edit-router.ts';
import { readFields } from '../../form.ts';
import { choicesOf } from './access-form.ts';
import { authorOf, type OwnerVisitor } from '../owner.ts';
import { newRouterOffers, setNewRouterOffers } from '../offers/sets.ts';
import { readEntry, readTypedPrice, routerErrors, type RouterEntry } from './router-form.ts';

/** Owners can set these up alone: the other kinds need a RADIUS server. */
const choices = () => choicesOf(['portal_login', 'shared_password'], 'Wi‑Fi');

export function newRouterForm({ locals: { app } }: RequestEvent) {
	return {
		/** The same form adds one router, however often it is sent. */
		key: purchaseToken(),
		currency: currencyName(app.config.currency),
		centre: app.config.centre,
		entry: { name: '', address: '', ssid: '', hidden: 'no', lat: '', lon: '', opening_hours: '' },
		choices: choices(),
		/** Ticked. */
		offers: newRouterOffers(),
		limit: formatDuration(NEW_HOURLY_MAX)
	};
}

type Errors = Partial<RouterEntry & { price: string }>;

export async function addRouter(event: RequestEvent, owner: OwnerVisitor) {
	const { app } = event.locals;
	const { field, all } = await readFields(event.request);
	const { entry } = readEntry(field);
	const key = PURCHASE_TOKEN_PATTERN.test(field('key')) ? field('key') : purchaseToken();
	const [price, chosen, offers] = [field('price'), field('access'), all('offer')];
	const refused = (errors: Errors, problem = m.owner_check_fields()) =>
		fail(400, { key, entry, price, chosen, offers, errors, problem });
	const choice = choices().find(({ value }) => value === chosen);
	if (!choice) return refused({}, m.owner_access_choose());
	const { kind: access_kind, security } = choice;
	const typed = readTypedPrice(price, app.config);
	const texts = { ...entry, price: 'price' in typed ? String(typed.price) : '', access_kind, security };
	const added = await attempt(InputError, () =>
		createOwnedRouter(app.routers, owner.actor.accountId, texts, authorOf(owner), key)
	);
	if (!(added instanceof InputError)) {
		await setNewRouterOffers(app, owner, added, offers);
		redirect(303, link(`/owner/routers/${added.id}?done=new`));
	}
	const fields = added.problems.map((one) => one.field);
	if (fields.includes('limit')) {
		return refused({}, m.owner_new_full({ count: numberText(MAX_UNCONNECTED_ROUTERS) }));
	}
	const isPrice = fields.includes('price');
	return refused({
		...routerErrors(added, entry),
		...(isPrice && { price: 'problem' in typed ? typed.problem : m.owner_price_not_number() })
	});
}

import * as m from '#lib/i18n/messages.js';
import type { OwnedRouter } from '#lib/server/routers/routers.ts';

/** Lists what a router needs before it sells, from its data. Returns null if nothing is missing. */
export function routerSteps(router: OwnedRouter) {
	const { id, disabled, canEnable, givesAccess, hourly, offers, access_kind: kind } = router;
	if (givesAccess && !(disabled && canEnable)) return null;
	const here = `/owner/routers/${id}`;
	const isShared = kind === 'shared_password';
	const step = (title: string, isDone: boolean, missing: string, page: string, action: string) => ({
		...{ title, isDone, text: isDone ? null : missing, href: `${here}/${page}`, action }
	});
	const offersStep = step(
		m.owner_step_offers(),
		hourly || offers.length > 0,
		m.owner_offers_nothing(),
		'offers',
		m.owner_offers_edit()
	);
	return [
		step(m.owner_step_place(), true, '', 'edit', m.owner_router_edit()),
		{ ...offersStep, ...(hourly && offers.length === 0 && { text: m.owner_step_offers_hourly() }) },
		step(
			m.owner_step_connect(),
			givesAccess,
			isShared ? m.owner_wifi_missing() : connectText(router),
			isShared ? 'access' : 'gateway',
			isShared ? m.owner_wifi_change() : m.owner_step_connect()
		),
		step(m.owner_step_open(), !disabled, m.owner_disabled_text(), 'sales', m.owner_enable())
	];
}

/** Returns the next step of an owner whose routers all lack one before they sell; null if one sells. */
export function startOf(routers: readonly OwnedRouter[]) {
	const [first] = routers;
	if (!first) {
		const action = m.owner_new_title();
		return { name: null, text: m.owner_no_routers(), href: '/owner/routers/new', action };
	}
	if (routers.some(({ disabled, status }) => !disabled && status === 'online')) return null;
	const missing = routers.map((router) => routerSteps(router)?.find(({ isDone }) => !isDone) ?? null);
	const [next] = missing;
	if (!next || missing.includes(null)) return null;
	return { name: first.name, text: next.text, href: next.href, action: next.action };
}

const connectText = ({ status }: OwnedRouter): string =>
	status === 'online' ? m.owner_step_connect_test() : m.usage_unverified();

import { numberText, apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import type { App } from '#lib/server/app.ts';
import type { OwnedRouter } from '#lib/server/routers/routers.ts';
import { type RouterUse, type SessionUse, gatewayState } from '#lib/server/owner/usage.ts';
import { moment, money } from '#lib/format/text.ts';
import { routerState } from '../router/router-state.ts';

/** Smaller clock differences have no visible effect. */
const CLOCK_SHOWN_MS = 5_000;
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Formats bytes as "850 kB" or "1.2 GB", in thousands as phones do. */
function dataText(bytes: number): string {
	const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
	const value = bytes / 1000 ** power;
	const digits = power > 1 && value < 10 ? 1 : 0;
	return apart(`${numberText(value, { maximumFractionDigits: digits })}\u00a0${UNITS[power] ?? 'B'}`);
}

export async function routersOf({ clock, usage, config }: App, routers: readonly OwnedRouter[]) {
	const uses = await usage.ofRouters(routers.map(({ id }) => id));
	const when = { now: clock.now(), timeZone: config.reportTimezone };
	return routers.map((router) => {
		const { id, name, price, currency, hourly, offers } = router;
		return {
			id,
			name,
			sells: hourly
				? m.owner_per_hour({ money: money(price, currency) })
				: offers.map((offer) => offer.name).join(' · '),
			state: routerState(router, when),
			use: useLine(uses.get(id))
		};
	});
}

function useLine(use: RouterUse | undefined): string | null {
	return use?.online == null ? null : m.usage_line_online({ count: numberText(use.online) });
}

function gatewayLine(gateway: RouterUse['gateways'][number], timeZone: string) {
	const { name, title, seenAt, unresponsiveSince, clockOffsetMs } = gateway;
	const state = gatewayState(gateway);
	const seconds = String(Math.round(Math.abs(clockOffsetMs ?? 0) / 1000));
	const isOff = clockOffsetMs !== null && Math.abs(clockOffsetMs) >= CLOCK_SHOWN_MS;
	return {
		name,
		title,
		state: {
			responding: m.usage_responding(),
			new: m.usage_new(),
			unresponsive: m.usage_unresponsive({ time: moment(unresponsiveSince ?? 0, timeZone) }),
			unmonitored: m.usage_unmonitored()
		}[state],
		mark: state === 'responding' ? ('good' as const) : state === 'unmonitored' ? null : ('notice' as const),
		notes: [
			...(seenAt === null ? [] : [m.usage_last_response({ time: moment(seenAt, timeZone) })]),
			...(isOff
				? [clockOffsetMs > 0 ? m.usage_clock_ahead({ seconds }) : m.usage_clock_behind({ seconds })]
				: [])
		]
	};
}

export function routerUse(use: RouterUse | undefined, timeZone: string) {
	if (!use || use.gateways.length === 0) return null;
	const { online, gateways } = use;
	return {
		lines: [[m.usage_devices(), online === null ? m.usage_unknown() : numberText(online)]] as const,
		gateways: gateways.map((gateway) => gatewayLine(gateway, timeZone))
	};
}

export function sessionUse(use: SessionUse | undefined, isRunning: boolean): string | null {
	if (!use) return null;
	const connected = use.connected > 0 ? m.usage_connected() : m.usage_not_connected();
	const data = m.usage_data_used({ data: dataText(use.bytes) });
	return isRunning ? `${connected} · ${data}` : data;
}

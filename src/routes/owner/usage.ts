import { numberText, apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import type { App } from '#lib/server/app.ts';
import { count, moment } from './words.ts';

type MapValue<T> = T extends Map<number, infer Value> ? Value : never;
type RouterUse = MapValue<Awaited<ReturnType<App['usage']['ofRouters']>>>;
type SessionUse = MapValue<Awaited<ReturnType<App['usage']['ofSessions']>>>;
type GatewayUse = RouterUse['gateways'][number];

/** Smaller clock differences have no visible effect. */
const CLOCK_SHOWN_MS = 5_000;
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Formats bytes as "850 kB" or "1.2 GB", in thousands as phones do. */
export function dataText(bytes: number): string {
	const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
	const value = bytes / 1000 ** power;
	const digits = power > 1 && value < 10 ? 1 : 0;
	return apart(`${numberText(value, { maximumFractionDigits: digits })}\u00a0${UNITS[power] ?? 'B'}`);
}

/** Describes a router's usage in one line; null if unknown. */
export function useLine(use: RouterUse | undefined): string | null {
	if (!use || use.online === null) return null;
	const online = count(use.online);
	return use.data
		? m.usage_line({ count: online, data: dataText(use.data.today) })
		: m.usage_line_online({ count: online });
}

export const silentText = (use: RouterUse | undefined, timeZone: string): string | null =>
	use?.unresponsiveSince == null ? null : m.usage_silent({ time: moment(use.unresponsiveSince, timeZone) });

/** A gateway as the owner sees it. */
export interface GatewayLine {
	name: string;
	title: string;
	state: string;
	mark: 'good' | 'notice' | null;
	/** Last contact, and clock difference. */
	notes: string[];
}

function gatewayLine(gateway: GatewayUse, timeZone: string): GatewayLine {
	const { name, title, state, seenAt, unresponsiveSince, clockOffsetMs } = gateway;
	const seconds = String(Math.round(Math.abs(clockOffsetMs ?? 0) / 1000));
	const isOff = clockOffsetMs !== null && Math.abs(clockOffsetMs) >= CLOCK_SHOWN_MS;
	return {
		name,
		title,
		state: {
			heard: m.usage_heard(),
			new: m.usage_new(),
			silent: m.usage_silent({ time: moment(unresponsiveSince ?? 0, timeZone) }),
			unwatched: m.usage_unwatched()
		}[state],
		mark: state === 'heard' ? 'good' : state === 'unwatched' ? null : 'notice',
		notes: [
			...(seenAt === null ? [] : [m.usage_last_heard({ time: moment(seenAt, timeZone) })]),
			...(isOff
				? [clockOffsetMs > 0 ? m.usage_clock_ahead({ seconds }) : m.usage_clock_behind({ seconds })]
				: [])
		]
	};
}

export interface RouterUseText {
	lines: [string, string][];
	gateways: GatewayLine[];
	/** Reason why it does not sell; null while it does. */
	notSold: string | null;
}

/** Describes a router's usage and gateways; null without a gateway. */
export function routerUse(use: RouterUse | undefined, timeZone: string): RouterUseText | null {
	if (!use || use.gateways.length === 0) return null;
	const { online, data, gateways, unresponsiveSince } = use;
	const known = (value: string | null) => value ?? m.usage_unknown();
	return {
		lines: [
			[m.usage_devices(), known(online === null ? null : count(online))],
			[m.usage_today(), known(data && dataText(data.today))],
			[m.usage_month(), known(data && dataText(data.month))]
		],
		gateways: gateways.map((gateway) => gatewayLine(gateway, timeZone)),
		notSold:
			unresponsiveSince === null ? null : m.usage_not_sold({ time: moment(unresponsiveSince, timeZone) })
	};
}

/** Describes a session's usage: "connected · 120 MB used"; null if unknown. */
export function sessionUse(use: SessionUse | undefined, isRunning: boolean): string | null {
	if (!use) return null;
	const connected = use.isConnected ? m.usage_connected() : m.usage_not_connected();
	const data = m.usage_data_used({ data: dataText(use.bytes) });
	return isRunning ? `${connected} · ${data}` : data;
}

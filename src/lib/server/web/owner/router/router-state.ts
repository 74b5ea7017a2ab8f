import { moment } from '#lib/format/text.ts';
import { momentText } from '#lib/format/when.ts';
import * as m from '#lib/i18n/messages.js';
import type { OwnedRouter } from '#lib/server/routers/routers.ts';

interface RouterState {
	/** `notice`: a person closed it; `bad`: something is broken or missing. */
	tone: 'good' | 'notice' | 'bad';
	/** A few words beside the name. */
	label: string;
	/** Why the router does not sell, and what to do; null while it sells. */
	text: string | null;
}

export function routerState(
	router: OwnedRouter,
	{ now, timeZone }: { now: number; timeZone: string }
): RouterState {
	const { status, status_reason: reason, opensAt, unresponsiveSince } = router;
	if (router.disabled) {
		const text = router.canEnable ? m.owner_disabled_text() : m.owner_disabled_by_administrator();
		return { tone: 'notice', label: m.owner_disabled(), text };
	}
	if (status === 'online') return { tone: 'good', label: m.owner_online(), text: null };
	const fault = (label: string, text: string): RouterState => ({ tone: 'bad', label, text });
	if (opensAt !== null) {
		const time = momentText(new Date(opensAt), new Date(now), timeZone);
		return { tone: 'notice', label: m.owner_paused({ time }), text: m.owner_pause_text() };
	}
	switch (reason) {
		case 'access_unverified':
			return fault(m.usage_new(), m.usage_unverified());
		case 'network_password_missing':
			return fault(m.owner_no_password(), m.owner_wifi_missing());
		case 'gateway_unresponsive': {
			const time = moment(unresponsiveSince ?? 0, timeZone);
			return fault(m.usage_unresponsive({ time }), m.usage_not_sold({ time }));
		}
		default:
			return { tone: 'notice', label: m.owner_closed(), text: m.owner_closed_text() };
	}
}

import { findApiBuyerPass } from '#lib/server/passes.ts';
import { error } from '@sveltejs/kit';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { clockText, momentText } from '#lib/format/words.ts';
import { computeWarnSeconds } from '#lib/purchase/state.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { showBrand } from '#lib/server/portal/brand.ts';
import { ifAvailable, orNull, passPath } from '#lib/server/portal/pages.ts';
import {
	describeGoOnline,
	findReadingDevice,
	formatOnlineHeading,
	isOnline,
	moveSlots
} from '#lib/server/portal/go-online.ts';
import type { Actions, PageServerLoad } from './$types';

/** The page of a pass from the API: its end, and how this device goes online. */
export const load: PageServerLoad = async (event) => {
	const { app } = event.locals;
	const { clock, config } = app;
	const { token } = event.params;
	const pass = await findApiBuyerPass(app, token);
	if (!pass) error(404, m.splash_pass_over());
	const { routerId, user, time } = pass;
	const ssid = apart(pass.ssid);
	const page = passPath(event);
	const router = await ifAvailable(orNull(apiClient(event).getRouter(routerId)), null);
	const device = await findReadingDevice(event, routerId);
	const now = new Date(clock.now());
	const until = time && momentText(new Date(time.untilMs), now, config.reportTimezone);
	const title = until === null ? m.purchase_ready_title() : m.purchase_active_title({ until });
	return {
		brand: showBrand(event, router),
		ssid,
		user,
		data: pass.data,
		left: time && computeLeft(time, now),
		asOf: clockText(now, config.reportTimezone),
		status: isOnline(event, device)
			? formatOnlineHeading({ title })
			: { tone: 'good' as const, title, text: '' },
		online: describeGoOnline(event, device, { page, ssid, signIn: 'device', isApiBuyer: true })
	};
};

function computeLeft({ fromMs, untilMs }: { fromMs: number; untilMs: number }, now: Date) {
	const totalSeconds = (untilMs - fromMs) / 1000;
	return {
		remainingSeconds: Math.max(0, Math.ceil((untilMs - now.getTime()) / 1000)),
		totalSeconds,
		warnSeconds: computeWarnSeconds(totalSeconds)
	};
}

export const actions: Actions = {
	move: async (event) => {
		const pass = await findApiBuyerPass(event.locals.app, event.params.token);
		if (!pass) error(404, m.splash_pass_over());
		return moveSlots(event, pass.routerId, passPath(event));
	}
};

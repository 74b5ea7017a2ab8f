import { error, type RequestEvent } from '@sveltejs/kit';
import { formatDuration } from '#lib/domain/duration.ts';
import { money, pastMoment } from '#lib/format/text.ts';
import { timeLeftText } from '#lib/format/when.ts';
import { link } from '#lib/i18n/current.ts';
import { numberText } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import type { App } from '#lib/server/app.ts';
import type { OwnerUserBody } from '#lib/server/contract/schemas.ts';
import { AppError, attempt } from '#lib/server/platform/errors.ts';
import { pageLinks } from '../page-links.ts';
import { sessionUse } from './figures/usage.ts';
import type { OwnerVisitor } from './owner.ts';

const PAGE_SIZE = 50;

export async function peoplePage({ url, locals: { app } }: RequestEvent, { actor }: OwnerVisitor) {
	const { sessions, cursors } = app;
	const group = url.searchParams.get('group') === 'expired' ? 'expired' : 'active';
	const cursor = url.searchParams.get('cursor');
	const filters = ['owner/people', actor.accountId, group];
	const after =
		cursor === null
			? null
			: await attempt(AppError, (): readonly [number, number] => cursors.decode(cursor, filters));
	if (after instanceof AppError) error(404, m.common_error_not_found());
	const of = { limit: PAGE_SIZE, after };
	const page =
		group === 'active'
			? await sessions.activeForOwner(actor, of)
			: { count: null, ...(await sessions.endedForOwner(actor, of)) };
	const next = page.next && cursors.encode(page.next, filters);
	return {
		group,
		count: page.count === null ? null : numberText(page.count),
		people: await peopleOf(app, page.data),
		pages: pageLinks(link('/owner/people'), { group }, { parameter: 'cursor', at: after, next })
	};
}

/** Describes customers to an owner, without full phone numbers and passwords. */
export async function peopleOf({ usage, clock, config }: App, users: readonly OwnerUserBody[]) {
	const uses = await usage.ofSessions(users.map((user) => user.session_id));
	return users.map((user) => {
		const isOnline = user.group === 'active';
		const end = pastMoment(Date.parse(user.ended_at ?? user.expires_at), {
			now: clock.now(),
			timeZone: config.reportTimezone
		});
		return {
			id: user.session_id,
			phone: user.phone_masked,
			router: user.router_name,
			bought: m.owner_bought({
				duration: formatDuration(user.duration),
				money: money(user.amount, user.currency)
			}),
			when: isOnline
				? m.owner_left({ time: timeLeftText(user.remaining_seconds) })
				: user.status === 'ended'
					? m.owner_ended_early({ time: end })
					: m.owner_over_since({ time: end }),
			isOnline,
			use: sessionUse(uses.get(user.session_id), isOnline)
		};
	});
}

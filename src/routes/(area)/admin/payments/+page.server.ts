import { error } from '@sveltejs/kit';
import { formatMinor } from '#lib/domain/money.ts';
import { timeAt } from '#lib/domain/time.ts';
import { PAID, adminPage, shownNumber } from '#lib/server/web/admin.ts';

/** What the figures of the overview count, by their name in the address. */
const LISTS = {
	paid: { title: 'Paid', statuses: PAID },
	failed: { title: 'Declined or failed', statuses: ['failed'] },
	expired: { title: 'No answer in time', statuses: ['expired'] },
	pending: { title: 'Waiting for the buyer', statuses: ['pending'] },
	refund: { title: 'Refunds in progress', statuses: ['refund_pending'] },
	connect: { title: 'Paid, not yet connected', statuses: ['success'] }
} as const;

/** A pasted message of an operator. */
const MAX_TYPED = 1_000;

/** /admin/payments?q= finds payments; ?show=&operator= lists those of a figure: of an operator, those of the last 24 hours. */
export const load = adminPage(async ({ url, locals: { app } }) => {
	const [show, operator] = [url.searchParams.get('show') ?? '', url.searchParams.get('operator')];
	// PostgreSQL refuses NUL in text.
	const typed = (url.searchParams.get('q') ?? '')
		.slice(0, MAX_TYPED)
		.replace(/\p{Cc}/gu, ' ')
		.trim();
	const list = Object.hasOwn(LISTS, show) ? LISTS[show as keyof typeof LISTS] : null;
	if (list === null && show !== '') error(404, 'Not found');
	const isActivating = show === 'connect';
	const rows = list
		? await app.monitoring.listPayments({ operator, statuses: list.statuses, isActivating })
		: await app.monitoring.findPayments(typed);
	return {
		...{ title: list?.title ?? 'Find a payment', operator, typed: list ? null : typed },
		payments: rows.map((row) => ({
			...{ id: row.id, status: row.status, operator: row.operator, phone: shownNumber(row.phone) },
			amount: formatMinor(row.amount_minor, row.currency),
			when: timeAt(row.created_at, app.config.reportTimezone),
			router: { id: row.router_id, name: row.router_name }
		}))
	};
});

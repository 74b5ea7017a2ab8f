import { createPass, setPassTime } from '#lib/server/passes.ts';
import { findToday } from '#lib/server/billing/earnings.ts';
/** Adds a year of synthetic trade to an installation, to measure pages with. */
import { openApp } from '../../../src/cli/services.ts';
import { limitsOf } from '../../../src/lib/domain/offers.ts';
import type { App } from '../../../src/lib/server/app.ts';
import { SESSION_END_JOB } from '#lib/server/billing/sessions.ts';
import { loadConfig } from '../../../src/lib/server/config/config.ts';
import type { Tx } from '../../../src/lib/server/db/database.ts';
import { demoAccounts } from '../../../src/lib/server/demo/accounts.ts';
import * as rows from './rows.ts';
import * as store from './store.ts';
import { salesOf, type Sale } from './trade.ts';

/** Sales whose rows are written together. */
const SALES_AT_ONCE = 5_000;

interface Size {
	routers: number;
	sessions: number;
}

/**
 * Adds the year for the demo owner of a new database, the same for the same clock.
 * @param settings environment variables of the installation, which does not run
 */
export async function addYear(settings: Record<string, string>, size: Size): Promise<void> {
	const app = await openApp(loadConfig(settings));
	try {
		await addTrade(app, size);
	} finally {
		await app.stop();
	}
}

async function addTrade(app: App, size: Size): Promise<void> {
	const { config, clock, database } = app;
	const signIns = await demoAccounts(app);
	const idOf = (wanted: string) => signIns.find(({ role }) => role === wanted)?.id ?? 0;
	const { currency, paymentMethods, commissionBasisPoints, reportTimezone: timeZone } = config;
	const now = clock.now();
	const facts = {
		...{ ownerId: idOf('owner'), buyerId: idOf('app'), now },
		...{ currency, paymentMethods, commissionBasisPoints }
	};
	const sales = salesOf(size.routers, size.sessions, { today: findToday(app), now, timeZone });
	await database.transact(async (trx) => {
		const routerIds = await store.insertAll(trx, 'routers', rows.routerRows(size.routers, facts));
		for (let done = 0; done < sales.length; done += SALES_AT_ONCE) {
			const batch = { sales: sales.slice(done, done + SALES_AT_ONCE), first: done, routerIds };
			await addSales(app, trx, batch, facts);
		}
	});
}

interface Batch {
	sales: readonly Sale[];
	/** Number of sales before it. */
	first: number;
	routerIds: readonly number[];
}

async function addSales(app: App, trx: Tx, batch: Batch, facts: rows.YearFacts): Promise<void> {
	const { sales, first, routerIds } = batch;
	const made = sales.map((sale, index) =>
		rows.rowsOf(sale, first + index, routerIds[sale.router] ?? 0, facts)
	);
	const sessionIds = await store.insertAll(
		trx,
		'sessions',
		made.map(({ session }) => session)
	);
	const idAt = (index: number) => sessionIds[index] ?? 0;
	const paid = made.flatMap((one, index) => (one.payment.applied ? [{ ...one, id: idAt(index) }] : []));
	await store.insertAll(
		trx,
		'passes',
		paid.flatMap(({ id, pass, isRunning }) => (isRunning ? [] : [{ id, ...pass }]))
	);
	for (const { id, session, pass } of paid.filter(({ isRunning }) => isRunning)) {
		const { starts_at: startsAt, ends_at: endsAt, access_kind, max_devices } = pass;
		const bought = { id, router_id: session.router_id, access_kind, ...limitsOf({}), max_devices };
		await createPass(app, trx, bought);
		await setPassTime(app, trx, id, { startsAt, endsAt });
		await app.jobs.schedule(trx, SESSION_END_JOB, id, endsAt);
	}
	const payments = made.map(({ payment }, index) => ({ ...payment, session_id: idAt(index) }));
	const paymentIds = await store.insertAll(trx, 'payments', payments);
	await store.linkSessions(trx, { from: idAt(0), to: idAt(made.length - 1) });
	const ofPayments = payments.map((payment, index) => ({ payment, id: paymentIds[index] ?? 0 }));
	const refunded = ofPayments.filter(({ payment }) => payment.refunded_at !== null);
	await store.insertAll(
		trx,
		'refunds',
		refunded.map(({ payment, id }) => rows.refundRow(payment, id))
	);
	await store.insertAll(
		trx,
		'audit_log',
		ofPayments.flatMap(({ payment, id }) =>
			payment.paid_at === null ? [] : [rows.auditRow(id, payment.paid_at)]
		)
	);
	await store.insertAll(
		trx,
		'purchases',
		made.map(({ purchase }, index) => ({
			...purchase,
			session_id: idAt(index),
			payment_ids: JSON.stringify([paymentIds[index]])
		}))
	);
}

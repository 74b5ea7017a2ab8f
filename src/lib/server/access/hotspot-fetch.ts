import { dataLeft } from '../../domain/offers.ts';
import { loginUser } from '../../domain/wifi.ts';
import type { RegisteredGateway } from '../gateways/gateways.ts';
import { recordStatus } from '../gateways/gateways.ts';
import {
	type FetchPlace,
	type HotspotReport,
	MAX_CHANGES,
	MAX_UNSPLIT_USERS,
	formatFetched,
	formatProfile,
	formatRemovedUser,
	formatUser
} from '../gateways/mikrotik-fetch.ts';
import { lockPass, findOpenPass } from '../passes.ts';
import { type AdmissionRow, changeAdmission, findAdmission, forget, isAllowed } from './admissions.ts';
import {
	type ComparedRow,
	addUsers,
	buildLogin,
	compareReading,
	confirmAdmission,
	countReading,
	isEqual,
	nameCall,
	readComparison
} from './compare.ts';
import type { AccessContext } from './provisioning.ts';

/**
 * A MikroTik that fetches (gateways/mikrotik-fetch.ts): compared as gateways that Airtill calls are, at
 * each fetch and report.
 *
 * Fetch: the script changes the users that differ, and each change has a name (`unanswered_at`), which the router keeps in the
 * user's comment. A script can be lost, or run twice.
 * Report: what the router has after its script. Only a user with the name of the last change confirms it, and starts time
 * that waits. A user that is gone is forgotten and sent again, or its row is closed if nobody wants it.
 */

/** A change may be reported this much later; it is sent again at the next fetch. */
const RESEND_MS = 8_000;
/** Without changes. Often enough for gateways/health.ts. */
const REPORT_MS = 25_000;
/** A router that fetches this long without a report cannot run the scripts. */
const UNREPORTED_MS = 60_000;

const differs = ({ row, open, endMs }: ComparedRow): boolean =>
	open ? !isEqual(row, open, endMs) : row.sent_until !== null;

/** Returns the next script of the router, and stores what it changes. */
export async function renderNextScript(
	context: AccessContext,
	gateway: RegisteredGateway,
	place: FetchPlace
): Promise<string> {
	const { clock, database } = context;
	await addUsers(context, gateway);
	const { compared } = await readComparison(context, gateway);
	const at = clock.now();
	for (const { row, open } of compared) if (!open && row.sent_until === null) await close(context, row);
	// A later one was stored before the clock was set back.
	const isSent = ({ row }: ComparedRow) =>
		row.unanswered_at !== null && Math.abs(at - row.unanswered_at) < RESEND_MS;
	const different = compared.filter(differs);
	const due = different.filter((one) => !isSent(one));
	// Removed first: a user that is disconnected may be wanted again. Then who waits.
	due.sort((a, b) => rank(a) - rank(b) || (a.row.unanswered_at ?? 0) - (b.row.unanswered_at ?? 0));
	const changes = new Set<string>();
	let left = MAX_CHANGES;
	let isMore = false;
	// The report tells about the changes of its own script, which are named after its beginning.
	let toldAt = at;
	for (const { row, open, endMs } of due) {
		const call = nameCall(context, row);
		const login = await buildLogin(context, row, open);
		const wanted = { login, untilMs: endMs, call };
		const own = open
			? [formatProfile(login), formatUser(gateway, wanted, at)]
			: [formatRemovedUser(gateway, login.user)];
		const added = own.filter((one) => !changes.has(one));
		left -= added.join('').length;
		isMore = left < 0;
		if (isMore) break;
		const to = { unanswered_at: call, ...(open && { sent_until: endMs }) };
		if (!(await changeAdmission(database.db, row.id, to, row.unanswered_at))) continue;
		for (const one of added) changes.add(one);
		toldAt = Math.max(toldAt, call);
	}
	const { seenAt, updatedAt } = gateway;
	const isDue = seenAt === null || at - seenAt >= REPORT_MS;
	const hasData = compared.some(({ open }) => open && dataLeft(open.pass) !== null);
	const last = context.unreportedFetches.get(gateway.id);
	// After a pause the router was away, for example without power.
	const goesOn = last !== undefined && at - last.at < UNREPORTED_MS;
	const from = goesOn ? Math.max(last.from, seenAt ?? 0, updatedAt) : at;
	context.unreportedFetches.set(gateway.id, { from, at });
	if (at - from >= UNREPORTED_MS) await recordStatus(context.gateways, gateway, { trouble: UNREPORTED });
	const reports = isDue || hasData || different.length > 0;
	const reporting = reports ? { at: toldAt, isSplit: compared.length > MAX_UNSPLIT_USERS } : null;
	return formatFetched(gateway, place, { changes: [...changes].join(''), isMore, reporting });
}

const UNREPORTED =
	'The router has not reported for a minute. Read its log: /log print where message~"airtill".';

const rank = ({ open }: ComparedRow): number => (open === null ? 0 : open.kind === 'waits' ? 1 : 2);

/** Stores what the router has. */
export async function applyReport(
	context: AccessContext,
	gateway: RegisteredGateway,
	report: HotspotReport
): Promise<void> {
	const { users, active, at, part } = report;
	const comparison = await readComparison(context, gateway);
	for (const { row, open } of comparison.compared) {
		const user = loginUser(row.pass_id);
		if (!user.endsWith(part)) continue;
		const kept = users.get(user);
		if (!open) {
			// Its removal ran before its user was made again.
			const isBack = kept !== undefined && row.released_at !== null && kept.call > row.released_at;
			const isGone = isBack || (kept === undefined && !active.has(user));
			if (isGone && (row.unanswered_at ?? at) <= at) await close(context, row);
			continue;
		}
		if (kept && open.pass.data_limit_mb !== null) {
			// Those of a user may not include its connections (undocumented): neither counts twice.
			await countReading(context, comparison.sharing, row, Math.max(kept.bytes, active.get(user) ?? 0));
		}
		if (row.unanswered_at === null) {
			// Set back to an earlier state, for example by a power cut.
			const isOld =
				kept && isAllowed(row) && kept.untilSeconds !== Math.round((row.allowed_until ?? 0) / 1000);
			if (isOld && (row.allowed_at ?? at) < at) await forget(context, context.database.db, { id: row.id });
		} else if (kept?.call === row.unanswered_at) {
			const to = { allowed_until: row.sent_until, unanswered_at: null };
			await context.database.transact((trx) => confirmAdmission(context, trx, row, to));
		} else if (row.unanswered_at <= at && row.sent_until !== null) {
			const problem = `The router did not set the user "${user}". Read its log.`;
			await changeAdmission(context.database.db, row.id, { problem }, row.unanswered_at);
		}
	}
	const letsIn = ({ user }: { user: string }) => (user.endsWith(part) ? users.has(user) : null);
	await compareReading(context, gateway, { letsIn, users: [...users.keys()] }, at);
}

/** Closes the row of a user that is gone, or was never sent, unless time was given since. */
async function close(
	{ database, clock }: AccessContext,
	{ id, pass_id: passId }: AdmissionRow
): Promise<void> {
	await database.transact(async (trx) => {
		await lockPass(trx, passId);
		const now = clock.now();
		const row = await findAdmission(trx, id);
		if (!row || (row.released_at === null && (await findOpenPass(trx, passId, now)))) return;
		await changeAdmission(trx, id, {
			...{ sent_until: null, unanswered_at: null, problem: null, check_at: null },
			released_at: row.released_at ?? now,
			allowed_until: row.allowed_until === null ? null : Math.min(row.allowed_until, now)
		});
	});
}

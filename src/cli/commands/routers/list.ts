import { timeAt } from '#lib/format/calendar.ts';
import type { Config } from '#lib/server/config/config.ts';
import { formatMinor } from '#lib/domain/money.ts';
import { offlineReason, opensAt, pageOfRouters, type RouterRow } from '#lib/server/routers/routers.ts';
import { defineCommand } from '../../support/command.ts';
import { print, tableLine } from '../../support/output.ts';

const LIST_PAGE_ROWS = 500;

const routerLine = tableLine(6, 40, 32, 30, 14);

export const listRouters = defineCommand({
	name: 'routers list',
	parameters: '',
	summary: 'List all routers.',
	help: 'Ordered by id: id, name, SSID, position (latitude, longitude), price per hour, status with its reason.',
	options: {},
	async run({ open }) {
		const { clock, config, database } = await open();
		const now = clock.now();
		await print(routerLine('ID', 'NAME', 'SSID', 'POSITION', 'PRICE/HOUR', 'STATUS'));
		for (let afterId = 0; ;) {
			const page = await pageOfRouters(database.db, afterId, LIST_PAGE_ROWS);
			for (const row of page) {
				const { id, name, ssid, lat, lon, price_minor, currency } = row;
				const price = formatMinor(price_minor, currency).replaceAll('\u00a0', ' ');
				await print(routerLine(String(id), name, ssid, `${lat}, ${lon}`, price, stateOf(row, config, now)));
				afterId = id;
			}
			if (page.length === 0) return;
		}
	}
});

function stateOf(row: RouterRow, config: Pick<Config, 'mode' | 'reportTimezone'>, now: number): string {
	if (row.disabled_at !== null) return 'disabled';
	const opens = opensAt(row, config, now);
	if (opens !== null) {
		const time = timeAt(opens, config.reportTimezone).slice(0, -3);
		return `closed until ${time}`;
	}
	const reason = offlineReason(row, config, now);
	return reason === null ? 'online' : `offline (${reason})`;
}

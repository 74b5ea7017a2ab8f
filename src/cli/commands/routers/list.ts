import { formatMoney, toMajor } from '#lib/domain/money.ts';
import { offlineReason, pageOfRouters } from '#lib/server/routers/routers.ts';
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
		const { config, database } = await open();
		await print(routerLine('ID', 'NAME', 'SSID', 'POSITION', 'PRICE/HOUR', 'STATUS'));
		for (let afterId = 0; ;) {
			const page = await pageOfRouters(database.db, afterId, LIST_PAGE_ROWS);
			for (const row of page) {
				const { id, name, ssid, lat, lon, price_minor, currency, disabled_at } = row;
				const price = formatMoney(toMajor(price_minor, currency), currency).replaceAll('\u00a0', ' ');
				const reason = offlineReason(row, config);
				const status = reason === null ? 'online' : `offline (${reason})`;
				const state = disabled_at === null ? status : 'disabled';
				await print(routerLine(String(id), name, ssid, `${lat}, ${lon}`, price, state));
				afterId = id;
			}
			if (page.length === 0) return;
		}
	}
});

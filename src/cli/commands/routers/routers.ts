import { formatMinor } from '#lib/domain/money.ts';
import { timeAt } from '#lib/domain/time/calendar.ts';
import type { Config } from '#lib/server/config/config.ts';
import { offlineReason, opensAt, pageOfRouters, type RouterRow } from '#lib/server/routers/routers.ts';
import { AUTHOR_OPTIONS, defineCommand } from '../../support/command.ts';
import { UsageError } from '../../support/errors.ts';
import { plain, print, tableLine } from '../../support/output.ts';
import { localService, ownRouter, ownerOf } from '../../support/services.ts';
import { accessCommands } from './access.ts';
import { importRoutersFile } from './import.ts';

const LIST_PAGE_ROWS = 500;

const routerLine = tableLine(6, 40, 32, 30, 14);

const FIELD_OPTIONS = {
	name: { value: 'TEXT', help: 'shown to buyers' },
	address: { value: 'TEXT', help: "shown to buyers; '' deletes it" },
	ssid: { value: 'SSID', help: 'name of the network, at most 32 bytes' },
	lat: { value: 'DEGREES', help: 'latitude, e.g. 0.3136' },
	lon: { value: 'DEGREES', help: 'longitude, e.g. --lon=-32.5811' },
	price: { value: 'N', help: 'price per hour in units of CURRENCY, at most MAX_PRICE' },
	security: { value: 'wpa|nopass', help: 'nopass: an open network' },
	hidden: { value: 'yes|no', help: 'yes: the network does not announce its name' },
	status: { value: 'online|offline', help: 'offline: closed, but still in lists' }
} as const;

export const routerCommands = [
	importRoutersFile,
	defineCommand({
		name: 'routers list',
		summary: 'List all routers.',
		help: 'Ordered by id: id, name, SSID, position (latitude, longitude), price per hour, status with its reason.',
		async run({ open }) {
			const { clock, config, database } = await open();
			const now = clock.now();
			await print(routerLine('ID', 'NAME', 'SSID', 'POSITION', 'PRICE/HOUR', 'STATUS'));
			for (let afterId = 0; ;) {
				const page = await pageOfRouters(database.db, afterId, LIST_PAGE_ROWS);
				for (const row of page) {
					const { id, name, ssid, lat, lon, price_minor, currency } = row;
					const price = formatMinor(price_minor, currency).replaceAll('\u00a0', ' ');
					await print(routerLine(`${id}`, name, ssid, `${lat}, ${lon}`, price, stateOf(row, config, now)));
					afterId = id;
				}
				if (page.length === 0) return;
			}
		}
	}),
	defineCommand({
		name: 'routers add',
		summary: 'Add one router.',
		help: '--ssid, --lat, --lon and --price are required. Then choose how buyers connect ("routers access") and register its gateway ("gateways add").',
		options: {
			...FIELD_OPTIONS,
			owner: { value: 'EMAIL', help: 'its account, an owner or admin; default: the only owner' },
			...AUTHOR_OPTIONS
		},
		async run({ values: { owner, by, note, ...fields }, open }) {
			const app = localService(await open());
			const account = await ownerOf(app, owner);
			const { id, name } = await app.routers.add(account.id, fields, { by, note });
			await print(`Router ${id} ${plain(name)} added.`);
		}
	}),
	defineCommand({
		name: 'routers set',
		args: ['ID'],
		summary: 'Change fields of a router.',
		help: 'Fields without an option keep their value. Orders and running time keep what was agreed. For how buyers connect, see "routers access".',
		options: { ...FIELD_OPTIONS, ...AUTHOR_OPTIONS },
		async run({ args: [router], values: { by, note, ...fields }, open }) {
			if (Object.keys(fields).length === 0)
				throw new UsageError('Name a field to change, for example --price 500.');
			const app = await open();
			const { id } = await ownRouter(app, router);
			const changed = await app.routers.change(id, fields, { by, note });
			await print(changed.length === 0 ? `Router ${id} has these values already.` : `Router ${id} changed.`);
		}
	}),
	toggle(true, {
		name: 'routers disable',
		summary: 'Take a router off sale and out of lists and maps.',
		help: 'Running time continues, and buyers keep their pages. A payment on its way still buys its time; one that arrives after its order has expired is refunded.'
	}),
	toggle(false, {
		name: 'routers enable',
		summary: 'Put a disabled router back on sale.',
		help: 'It sells again if its gateways respond; see "routers list".'
	}),
	...accessCommands
];

function toggle(isSet: boolean, texts: { name: string; summary: string; help: string }) {
	return defineCommand({
		...texts,
		args: ['ID'],
		options: AUTHOR_OPTIONS,
		async run({ args: [router], values, open }) {
			const app = await open();
			const { id, name } = await ownRouter(app, router);
			await app.routers.mark(id, 'disabled_at', { isSet, ...values });
			await print(`Router ${id} ${plain(name)} is ${isSet ? 'disabled' : 'enabled'}.`);
		}
	});
}

function stateOf(row: RouterRow, config: Config, now: number): string {
	if (row.disabled_at !== null) return 'disabled';
	const opens = opensAt(row, config, now);
	if (opens !== null) return `closed until ${timeAt(opens, config.reportTimezone).slice(0, -3)}`;
	const reason = offlineReason(row, config, now);
	return reason === null ? 'online' : `offline (${reason})`;
}

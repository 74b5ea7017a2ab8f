import { cellsOf, OFFER_COLUMNS, offersOfCells } from '#lib/server/offers/cells.ts';
import { csvProblem, filePrices, offersCsv, readOffersCsv } from '#lib/server/offers/csv.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { defineCommand } from '../../support/command.ts';
import { CommandError } from '../../support/errors.ts';
import { readInput } from '../../support/files.ts';
import { plain, print } from '../../support/output.ts';
import { ownRouter, ownerOf } from '../../support/services.ts';

const onOff = (isSold: boolean) => (isSold ? 'are sold by the hour' : 'are not sold');

export const offerCommands = [
	defineCommand({
		name: 'offers set',
		args: ['ROUTER', 'FILE.csv'],
		summary: 'Replace the offers of a router by those of a CSV file.',
		help: [
			'If an offer is bad, nothing is changed. Every problem is reported with its line and column. "offers list" prints such a file. Orders keep the price and the limits that they were made with.',
			'',
			`Columns: ${OFFER_COLUMNS.join(', ')}. name, duration (30m, 2h, 1d, 1w) and price are required. An empty cell sets no limit. Speeds are in kbit/s, data is in MB. days: such as "mon tue"; from, until: such as 08:00; active: yes or no. At most 20 offers.`
		].join('\n'),
		options: {
			by: {
				value: 'EMAIL',
				help: 'the account that the history names: the owner of the router, or an admin',
				isNeeded: true
			},
			hourly: {
				words: ['yes', 'no'],
				help: 'yes: other times are sold at the hourly price; no: only the offers; default: as before'
			}
		},
		async run({ args: [router, name], values: { by, hourly }, folder, open }) {
			const file = await readOffersCsv(await readInput(folder, name));
			const app = await open();
			const { id, name: routerName, currency } = await ownRouter(app, router, 'ROUTER');
			const prices = filePrices(file, currency);
			const account = await ownerOf(app, by);
			const role = account.role === 'admin' ? 'admin' : 'owner';
			const actor = { accountId: account.id, role, keyId: null } as const;
			try {
				const before = await app.offers.ofRouter(actor, id);
				const isHourly = hourly === undefined ? before.hourly : hourly === 'yes';
				const offers = offersOfCells(file.rows, { hourly: isHourly, version: before.version }, prices);
				const { data } = await app.offers.set(actor, id, offers);
				const others = `other times ${onOff(isHourly)}`;
				console.error(`Router ${id} ${plain(routerName)}: ${data.length} offers; ${others}.`);
			} catch (refused) {
				if (!(refused instanceof AppError)) throw refused;
				const problems = refused.items?.map((item) => csvProblem(file, item, prices)) ?? [refused.message];
				throw new CommandError([...problems, 'Nothing was changed.'].join('\n'));
			}
		}
	}),
	defineCommand({
		name: 'offers list',
		args: ['ROUTER'],
		summary: 'Print the offers of a router as CSV, for "offers set".',
		help: 'Includes offers that are not active. Says on stderr whether other times are sold by the hour.',
		async run({ args: [router], open }) {
			const app = await open();
			const { id, owner_account_id } = await ownRouter(app, router, 'ROUTER');
			const { data, hourly } = await app.offers.ofRouter({ accountId: owner_account_id, role: 'admin' }, id);
			console.error(`Other times ${onOff(hourly)}.`);
			await print(offersCsv(data.map(cellsOf)).trimEnd());
		}
	})
];

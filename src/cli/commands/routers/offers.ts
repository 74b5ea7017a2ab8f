import { cellsOf, OFFER_COLUMNS, offersOfCells } from '#lib/server/offers/cells.ts';
import { csvProblem, offersCsv, readOffersCsv } from '#lib/server/offers/csv.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { defineCommand, oneOf, required } from '../../support/command.ts';
import { CommandError } from '../../support/errors.ts';
import { readInput } from '../../support/files.ts';
import { plain, print } from '../../support/output.ts';
import { ownerOf } from '../../support/owners.ts';
import { ownRouter } from '../../support/services.ts';

const onOff = (isSold: boolean) => (isSold ? 'are sold by the hour' : 'are not sold');

export const setOffers = defineCommand({
	name: 'offers set',
	parameters: 'ROUTER FILE.csv --by EMAIL [--hourly yes|no]',
	summary: 'Replace the offers of a router by those of a CSV file.',
	help: [
		'If an offer is bad, nothing is changed. Every problem is reported with its line and column. "offers list" prints',
		'such a file. Orders keep the price and the limits that they were made with.',
		'',
		'  --by EMAIL     the account that the history names: the owner of the router, or an admin',
		'  --hourly WORD  yes: other times are sold at the hourly price; no: only the offers; default: as before',
		'',
		`Columns: ${OFFER_COLUMNS.join(', ')}.`,
		'name, duration (30m, 2h, 1d, 1w) and price are required. An empty cell sets no limit. Speeds are in kbit/s, data',
		'is in MB. days: such as "mon tue"; from, until: such as 08:00; active: yes or no. At most 20 offers.'
	].join('\n'),
	options: { by: { type: 'string' }, hourly: { type: 'string' } },
	async run({ argument, secondArgument, values, folder, open }) {
		const by = required(values.by, '--by');
		const hourly = values.hourly === undefined ? null : oneOf(values.hourly, ['yes', 'no'], '--hourly');
		const file = await readOffersCsv(await readInput(folder, secondArgument));
		const app = await open();
		const { id, name } = await ownRouter(app, argument);
		const account = await ownerOf(app, by);
		const role = account.role === 'admin' ? 'admin' : 'owner';
		const actor = { accountId: account.id, role, keyId: null } as const;
		try {
			const before = await app.offers.ofRouter(actor, id);
			const sold = { hourly: hourly === null ? before.hourly : hourly === 'yes', version: before.version };
			const { data, hourly: isHourly } = await app.offers.set(actor, id, offersOfCells(file.rows, sold));
			console.error(`Router ${id} ${plain(name)}: ${data.length} offers; other times ${onOff(isHourly)}.`);
		} catch (refused) {
			if (!(refused instanceof AppError)) throw refused;
			const problems = refused.items?.map((item) => csvProblem(file, item)) ?? [refused.message];
			throw new CommandError([...problems, 'Nothing was changed.'].join('\n'));
		}
	}
});

export const listOffers = defineCommand({
	name: 'offers list',
	parameters: 'ROUTER',
	summary: 'Print the offers of a router as CSV, for "offers set".',
	help: 'Includes offers that are not active. Says on stderr whether other times are sold by the hour.',
	options: {},
	async run({ argument, open }) {
		const app = await open();
		const { id, owner_account_id } = await ownRouter(app, argument);
		const { data, hourly } = await app.offers.ofRouter({ accountId: owner_account_id, role: 'admin' }, id);
		console.error(`Other times ${onOff(hourly)}.`);
		await print(offersCsv(data.map(cellsOf)).trimEnd());
	}
});

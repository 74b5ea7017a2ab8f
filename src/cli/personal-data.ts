import { stringify } from 'csv-stringify/sync';
import { createHash } from 'node:crypto';
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { normaliseIp, normaliseMac } from '#lib/domain/address.ts';
import { parseMobile } from '#lib/domain/phone.ts';
import {
	type AccessRecord,
	type AddressKind,
	RECORD_COLUMNS,
	findAccessRecords,
	recordExport
} from '#lib/server/personal-data.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import { PRIVATE_FILE_MODE } from '#lib/server/platform/private-files.ts';
import { AUTHOR_OPTIONS, defineCommand, SPAN_OPTIONS, spanOfDays } from './command.ts';
import { localService } from './services.ts';
import { refuseUsage } from './terminal.ts';

export const exportPersonalData = defineCommand({
	name: 'personal-data export',
	args: ['FILE.csv'],
	summary: 'Export who had access with an address and when, for a legal request.',
	help: "Writes a CSV file, which only your user can read, and records the export in the audit log. For each session: the payer's number, the operator's transaction, start and end, the router, and the addresses and times of devices. Give one of --phone, --mac and --ip.",
	options: {
		phone: { value: 'NUMBER', help: 'the number that paid', isChoice: true },
		mac: {
			value: 'ADDRESS',
			help: "the device's address in the Wi-Fi; phones use another one in each Wi-Fi",
			isChoice: true
		},
		ip: {
			value: 'ADDRESS',
			help: 'its address in the Wi-Fi, if the gateway reported one; never the public address',
			isChoice: true
		},
		...SPAN_OPTIONS,
		...AUTHOR_OPTIONS
	},
	async run({ args: [name], values: { from, to = from, by, note, ...values }, ...call }) {
		const { config, folder, open } = call;
		const address = addressOf(values, config().defaultRegion);
		const span = spanOfDays({ from, to }, config());
		const file = resolve(folder, name);
		const app = localService(await open());
		const records = await findAccessRecords(app.database, { ...address, ...span });
		const csv = formatCsv(records);
		const sha256 = createHash('sha256').update(csv).digest('hex');
		const handle = openSync(file, 'wx', PRIVATE_FILE_MODE);
		try {
			await recordExport(app, { ...address, ...span }, { by, note, records, sha256 });
			writeFileSync(handle, csv);
		} catch (error) {
			rmSync(file);
			throw error;
		} finally {
			closeSync(handle);
		}
		console.error(`${records.length} rows in ${name}, SHA-256 ${sha256}`);
	}
});

function addressOf(values: Partial<Record<AddressKind, string | undefined>>, region: string) {
	const given = (['phone', 'mac', 'ip'] as const).filter((kind) => values[kind] !== undefined);
	const [kind] = given;
	if (kind === undefined || given.length > 1) throw refuseUsage('Use one of --phone, --mac and --ip.');
	const text = values[kind] ?? '';
	const read = {
		phone: () => parseMobile(text, region),
		mac: () => normaliseMac(text),
		ip: () => normaliseIp(text)
	};
	const address = read[kind]();
	if (address === null) throw refuseUsage(`--${kind} is ${FORMS[kind]}, not "${text}".`);
	return { kind, address };
}

const FORMS = {
	phone: 'a mobile number such as +256772123456',
	mac: 'a MAC address such as 02:00:5e:10:00:01',
	ip: 'an IP address such as 192.168.1.20'
};

const formatCsv = (records: readonly AccessRecord[]) =>
	stringify(
		records.map((record) => ({
			...record,
			...{ session_start: isoTime(record.session_start), session_end: isoTime(record.session_end) },
			...{ device_start: isoTime(record.device_start), device_end: isoTime(record.device_end) }
		})),
		{ header: true, columns: [...RECORD_COLUMNS], bom: true, escape_formulas: true }
	);

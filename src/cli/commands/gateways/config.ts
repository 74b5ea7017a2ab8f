import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { basename, join, resolve } from 'node:path';
import type { ConfigPart } from '#lib/server/gateways/gateway.ts';
import { defineCommand } from '../../support/command.ts';
import { CommandError, UsageError } from '../../support/errors.ts';
import { print } from '../../support/output.ts';
import { knownGateway } from '../../support/services.ts';

export const configureGateway = defineCommand({
	name: 'gateways config',
	args: ['NAME'],
	summary: 'Print the complete configuration of a gateway.',
	help: 'Prints every file and every manual step. The files contain secrets: keep them private.',
	options: {
		part: { value: 'NUMBER', help: 'print only this part, without a heading' },
		out: {
			value: 'FOLDER',
			help: 'write the files to a folder that only you can read, and print the steps'
		},
		'api-origin': {
			value: 'URL',
			help: 'URL at which the RADIUS server reaches Airtill; default: http://127.0.0.1 with its port'
		},
		'radius-server': {
			value: 'ADDRESS',
			help: 'address at which the gateway reaches the RADIUS server; default: a placeholder'
		}
	},
	async run({ args: [name], values: { part, out, ...values }, folder, open }) {
		const apiOrigin = originOf(values['api-origin']);
		const radiusServer = addressOf(values['radius-server']);
		if (part !== undefined && out !== undefined) throw new UsageError('Use --part or --out, not both.');
		const app = await open();
		const gateway = await knownGateway(app, name);
		const parts = await app.gatewaySetup.configOf(gateway, { apiOrigin, radiusServer });
		if (app.config.origin === null) {
			console.error('ORIGIN is not set: replace THIS-MACHINE with the address of this machine.');
		}
		if (part !== undefined) await print(partOf(parts, part).text.replace(/\n$/, ''));
		else if (out !== undefined) await write(parts, resolve(folder, out));
		else await print(parts.map(written).join('\n\n'));
	}
});

/** hostapd accepts no host names. */
function addressOf(text: string | undefined): string | undefined {
	if (text !== undefined && isIP(text) === 0)
		throw new UsageError('--radius-server takes an address, e.g. 10.8.0.1.');
	return text;
}

function originOf(text: string | undefined): string | undefined {
	if (text === undefined) return undefined;
	if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
		throw new UsageError('--api-origin takes an address, e.g. https://portal.example.');
	}
	return new URL(text).origin;
}

function partOf(parts: readonly ConfigPart[], number: string): ConfigPart {
	const part = /^\d{1,3}$/.test(number) ? parts[Number(number) - 1] : undefined;
	if (!part) throw new CommandError(`--part: there are the parts 1 to ${parts.length}.`);
	return part;
}

const written = ({ title, file, text }: ConfigPart, index: number) =>
	[`=== ${index + 1}. ${title}${file === null ? '' : ` (${file})`}`, '', text.replace(/\n$/, '')].join('\n');

/** A repeated name gets the number of its part. */
async function write(parts: readonly ConfigPart[], folder: string): Promise<void> {
	await mkdir(folder, { recursive: true, mode: 0o700 });
	const taken = new Set<string>();
	for (const [index, part] of parts.entries()) {
		if (part.file === null) {
			await print(`${written(part, index)}\n`);
			continue;
		}
		const plainName = basename(part.file);
		const name = taken.has(plainName) ? `${index + 1}-${plainName}` : plainName;
		taken.add(name);
		const file = join(folder, name);
		await writeFile(file, part.text, { mode: 0o600 });
		await chmod(file, 0o600);
		await print(`${file}  belongs to ${part.file}`);
	}
}

import process from 'node:process';
import type { Removal } from '#lib/server/access/access.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { adapterOf } from '#lib/server/gateways/registry.ts';
import { gatewayState } from '#lib/server/owner/usage/usage.ts';
import { gatewayAddresses, publicAddress } from '../support/gateway-text.ts';
import { parseCommand, positionals, type Command } from '../support/command.ts';
import { CommandError } from '../support/errors.ts';
import { knownGateway } from '../support/known-gateway.ts';
import { plain, print } from '../support/output.ts';
import { routerName } from '../support/router-name.ts';
import { withConfiguredApp } from '../support/services.ts';

export const listGateways: Command = {
	name: 'gateways list',
	parameters: '',
	summary: 'List the gateways.',
	help: 'Ordered by name: name, kind, router, when it was last heard of, how it stands, sign-in hosts.',
	async run(args, context) {
		positionals(parseCommand(args, {}).positionals, []);
		return withConfiguredApp(context, async (app) => {
			await print(line(['NAME', 'KIND', 'ROUTER', 'LAST HEARD', 'STATE', 'SIGN-IN HOSTS']));
			for (const gateway of await app.gateways.list()) {
				const { name, kind, routerId, seenAt, loginHosts } = gateway;
				const router = (await routerName(app, routerId)) ?? 'gone';
				const heard = seenAt === null ? 'never' : isoTime(seenAt);
				const place = `${routerId} ${plain(router)}`;
				await print(line([name, kind, place, heard, stateText(gateway), loginHosts.join(', ')]));
			}
			return 0;
		});
	}
};

export const showGateway: Command = {
	name: 'gateways show',
	parameters: 'NAME',
	summary: 'Print the addresses of a gateway, and its text for DHCP option 114.',
	help: 'Its secrets are not shown: "gateways config NAME" prints them filled in, "gateways rotate NAME" makes new ones.',
	async run(args, context) {
		const [name = ''] = positionals(parseCommand(args, {}).positionals, ['NAME']);
		return withConfiguredApp(context, async (app) => {
			const gateway = await knownGateway(app, name);
			await print(gatewayAddresses(gateway, publicAddress(app.config)).join('\n'));
			return 0;
		});
	}
};

/** Ctrl-C, an end that was asked for, and a terminal that is gone. */
const STOPPING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export const removeGateway: Command = {
	name: 'gateways remove',
	parameters: 'NAME [--force]',
	summary: 'Put out whom a gateway lets in, and forget it: its portal address ends.',
	help:
		'Purchases stay as they are; devices that it sends are told that nothing is sold there. Where it could not be told ' +
		'to put its guests out, it is not removed, because nobody could do that later, and those that were put out are let ' +
		'in again. One that asks RADIUS, or its BinAuth script, is only forgotten: who is online there stays until the end that ' +
		'it was told. It may take a minute or two: what it was asked for last must be done first. --force removes one that is ' +
		'gone for good.',
	async run(args, context) {
		const { values, positionals: given } = parseCommand(args, { force: { type: 'boolean', default: false } });
		const [name = ''] = positionals(given, ['NAME']);
		return withConfiguredApp(context, async (app) => {
			const gateway = await knownGateway(app, name);
			const interrupt = new AbortController();
			const stop = () => interrupt.abort();
			for (const signal of STOPPING) process.on(signal, stop);
			const removal = await app.access.remove(gateway, {
				isForced: values.force,
				signal: interrupt.signal,
				onWait: (untilMs) =>
					console.error(
						`A guest was just being let in there. Waiting until ${isoTime(untilMs)}, when that cannot be done any ` +
							'more; Ctrl-C lets everybody in again.'
					)
			});
			for (const signal of STOPPING) process.off(signal, stop);
			if (!removal.isRemoved) throw new CommandError(refusal(gateway, removal));
			sayRemoved(gateway, removal);
			return 0;
		});
	}
};

function refusal(gateway: RegisteredGateway, { putOut, left, reason }: Removal): string {
	const why = plain(reason ?? 'It does not answer.');
	const again =
		adapterOf(gateway.kind).controller?.subject === 'user'
			? 'are added to it again as soon as it answers: they have to sign in once more'
			: 'are let in again as soon as it answers';
	return [
		`"${plain(gateway.name)}" is not removed: ${left} of its guests are not put out there (${why}).`,
		...(putOut > 0 ? [`Put out were ${putOut}, who ${again}.`] : []),
		'Try again when it answers. Where it never will: --force.'
	].join(' ');
}

function sayRemoved(
	{ name, installation }: RegisteredGateway,
	{ putOut, staying, left, reason }: Removal
): void {
	console.error(`The gateway "${plain(name)}" is removed. Guests put out there: ${putOut}.`);
	if (staying > 0) {
		console.error(
			`It cannot be told to put out guests that are away, or not at all: ${staying} may stay online there until their ` +
				'time ends.'
		);
	}
	if (left > 0) {
		console.error(
			`Not put out there: ${left} (${plain(reason ?? 'It does not answer.')}). Airtill cannot do it any more: devices ` +
				'stay online there until the end that it was told, and users of a MikroTik hotspot stay for good. Should that ' +
				`router come back, remove them by hand: /ip hotspot user remove [find comment="Airtill ${installation}"]`
		);
	}
}

/** How a gateway stands, in a few words; `gateways test` says more. */
function stateText(gateway: RegisteredGateway): string {
	const { unresponsiveSince, trouble } = gateway;
	const state = gatewayState(gateway);
	if (state === 'silent') return `silent since ${isoTime(unresponsiveSince)}`;
	if (trouble !== null) return 'trouble';
	return { heard: 'well', new: 'never heard', unwatched: 'not watched' }[state];
}

const WIDTHS = [24, 9, 36, 24, 12, 0];
const line = (cells: string[]) => cells.map((cell, column) => cell.padEnd(WIDTHS[column] ?? 0)).join('  ');

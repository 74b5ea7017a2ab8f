import process from 'node:process';
import type { Removal } from '#lib/server/access/access.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { adapterOf } from '#lib/server/gateways/registry.ts';
import { gatewayState } from '#lib/server/owner/usage/usage.ts';
import { checkGatewayHere } from '../../checks/gateway.ts';
import { report, REPORT_HELP } from '../../checks/finding.ts';
import { defineCommand } from '../../support/command.ts';
import { CommandError } from '../../support/errors.ts';
import { gatewayAddresses } from '../../support/gateway-text.ts';
import { plain, print, tableLine } from '../../support/output.ts';
import { findRouter, knownGateway } from '../../support/services.ts';

const gatewayLine = tableLine(24, 9, 36, 24, 12);

export const listGateways = defineCommand({
	name: 'gateways list',
	parameters: '',
	summary: 'List the gateways.',
	help: 'Ordered by name. Columns: name, kind, router, time of its last message, state, sign-in hosts.',
	options: {},
	async run({ open }) {
		const app = await open();
		await print(gatewayLine('NAME', 'KIND', 'ROUTER', 'LAST SEEN', 'STATE', 'SIGN-IN HOSTS'));
		for (const gateway of await app.gateways.list()) {
			const { name, kind, routerId, seenAt, loginHosts } = gateway;
			const router = `${routerId} ${(await findRouter(app, routerId))?.name ?? 'deleted'}`;
			const seen = isoTime(seenAt) ?? 'never';
			await print(gatewayLine(name, kind, router, seen, stateText(gateway), loginHosts.join(', ')));
		}
	}
});

export const showGateway = defineCommand({
	name: 'gateways show',
	parameters: 'NAME',
	summary: 'Print the addresses of a gateway, and its value for DHCP option 114.',
	help: 'Shows no secrets: "gateways config NAME" prints them, "gateways rotate NAME" replaces them.',
	options: {},
	async run({ argument, open }) {
		const app = await open();
		const gateway = await knownGateway(app, argument);
		await print(gatewayAddresses(gateway, app.config).join('\n'));
	}
});

export const testGateway = defineCommand({
	name: 'gateways test',
	parameters: 'NAME',
	summary: 'Check a gateway.',
	help: REPORT_HELP,
	options: {},
	async run({ argument, open }) {
		const app = await open();
		return report(checkGatewayHere(app, await knownGateway(app, argument)));
	}
});

const STOPPING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export const removeGateway = defineCommand({
	name: 'gateways remove',
	parameters: 'NAME [--force]',
	summary: 'Disconnect the devices of a gateway, and delete it with its portal address.',
	help:
		'Purchases do not change. If a device cannot be disconnected, the gateway is not removed, because Airtill could not ' +
		'do it later; devices that were disconnected are connected again. A gateway that uses RADIUS or BinAuth is only ' +
		'deleted: its devices stay online until the end of their time. The command can take two minutes, because it waits ' +
		'for requests that the gateway may still carry out. --force removes a gateway that no longer exists.',
	options: { force: { type: 'boolean', default: false } },
	async run({ argument, values, open }) {
		const app = await open();
		const gateway = await knownGateway(app, argument);
		const interrupt = new AbortController();
		const stop = () => interrupt.abort();
		for (const signal of STOPPING) process.on(signal, stop);
		const removal = await app.access.remove(gateway, {
			isForced: values.force,
			signal: interrupt.signal,
			onWait: (untilMs) =>
				console.error(
					`The gateway may still carry out an earlier request. Waiting until ${isoTime(untilMs)}; Ctrl-C cancels the ` +
						'removal.'
				)
		});
		for (const signal of STOPPING) process.off(signal, stop);
		if (!removal.isRemoved) throw new CommandError(refusal(gateway, removal));
		sayRemoved(gateway, removal);
	}
});

function refusal(gateway: RegisteredGateway, { putOut, left, reason }: Removal): string {
	const why = plain(reason ?? 'It does not answer.');
	const isUser = adapterOf(gateway.kind).controller?.subject === 'user';
	const again = isUser ? 'their users must sign in again once it answers' : 'they reconnect once it answers';
	return [
		`"${plain(gateway.name)}" is not removed: ${left} of its devices could not be disconnected (${why}).`,
		...(putOut > 0 ? [`Disconnected were ${putOut}; ${again}.`] : []),
		'Try again when it answers. If it never will, use --force.'
	].join(' ');
}

function sayRemoved(
	{ name, installation }: RegisteredGateway,
	{ putOut, staying, left, reason }: Removal
): void {
	console.error(`The gateway "${plain(name)}" is removed. Disconnected devices: ${putOut}.`);
	if (staying > 0) {
		console.error(
			`${staying} devices may stay online there until their time ends, because this gateway cannot disconnect them.`
		);
	}
	if (left > 0) {
		console.error(
			`Not disconnected: ${left} (${plain(reason ?? 'It does not answer.')}). Airtill cannot do it any more: devices ` +
				'stay online there until their time ends, and users of a MikroTik hotspot stay for good. If that router ' +
				`returns, remove them by hand: /ip hotspot user remove [find comment="Airtill ${installation}"]`
		);
	}
}

function stateText(gateway: RegisteredGateway): string {
	const { unresponsiveSince, trouble } = gateway;
	const state = gatewayState(gateway);
	if (state === 'silent') return `silent since ${isoTime(unresponsiveSince)}`;
	if (trouble !== null) return 'trouble';
	return { heard: 'ok', new: 'new', unwatched: 'not watched' }[state];
}

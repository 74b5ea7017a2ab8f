import { isoTime } from '#lib/server/platform/clock.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { gatewayState } from '#lib/server/owner/usage/usage.ts';
import { checkGatewayHere } from '../../doctor/gateway.ts';
import { defineCommand } from '../../support/command.ts';
import { plain, print, report, REPORT_HELP, tableLine } from '../../support/output.ts';
import { findRouter, knownGateway } from '../../support/services.ts';
import { configureGateway } from './config.ts';
import { registerCommands } from './register.ts';
import { gatewayText } from './text.ts';

const gatewayLine = tableLine(24, 9, 36, 24, 13);

export const gatewayCommands = [
	...registerCommands,
	defineCommand({
		name: 'gateways list',
		summary: 'List the gateways.',
		help: 'Ordered by name. Columns: name, kind, router, time of its last message, state, sign-in hosts.',
		async run({ open }) {
			const app = await open();
			await print(gatewayLine('NAME', 'KIND', 'ROUTER', 'LAST SEEN', 'STATE', 'SIGN-IN HOSTS'));
			const gateways = await Array.fromAsync(app.gateways.list());
			for (const gateway of gateways.sort((one, other) => (one.name < other.name ? -1 : 1))) {
				const { name, kind, routerId, seenAt, loginHosts } = gateway;
				const router = `${routerId} ${(await findRouter(app, routerId))?.name ?? 'deleted'}`;
				const seen = isoTime(seenAt) ?? 'never';
				await print(gatewayLine(name, kind, router, seen, stateText(gateway), loginHosts.join(', ')));
			}
		}
	}),
	defineCommand({
		name: 'gateways show',
		args: ['NAME'],
		summary: 'Print the addresses of a gateway, and its value for DHCP option 114.',
		help: 'Shows no secrets: "gateways config NAME" prints them, "gateways rotate NAME" replaces them.',
		async run({ args: [name], open }) {
			const app = await open();
			await print(gatewayText(await knownGateway(app, name), app.config));
		}
	}),
	configureGateway,
	defineCommand({
		name: 'gateways test',
		args: ['NAME'],
		summary: 'Check a gateway.',
		help: REPORT_HELP,
		async run({ args: [name], open }) {
			const app = await open();
			return report(checkGatewayHere(app, await knownGateway(app, name)));
		}
	}),
	defineCommand({
		name: 'gateways remove',
		args: ['NAME'],
		summary: 'Delete a gateway with its portal address.',
		help: 'A gateway that Airtill controls is not removed while passes have access there. A gateway that uses RADIUS or BinAuth, or that fetches its devices, is deleted at once: its devices stay online until the end of their time.',
		options: {
			force: {
				help: 'remove it all the same: disconnects what answers; the rest stays online until the end of its time'
			}
		},
		async run({ args: [name], values, open }) {
			const app = await open();
			const gateway = await knownGateway(app, name);
			const { disconnected, left } = await app.access.remove(gateway, { isForced: values.force });
			console.error(`The gateway "${plain(name)}" is removed. Disconnected devices: ${disconnected}.`);
			if (left === 0) return;
			console.error(
				`${left} devices may stay online there until their time ends. Airtill cannot end it any more.`
			);
			if (gateway.kind === 'mikrotik' && gateway.settings.control === 'rest') {
				console.error(
					'Users of its hotspot stay for good. If that router returns, remove them by hand: ' +
						`/ip hotspot user remove [find comment="Airtill ${gateway.installation}"]`
				);
			}
		}
	})
];

function stateText(gateway: RegisteredGateway): string {
	const { unresponsiveSince, trouble } = gateway;
	const state = gatewayState(gateway);
	if (state === 'unresponsive') return `unresponsive since ${isoTime(unresponsiveSince)}`;
	if (trouble !== null) return 'trouble';
	return state === 'unmonitored' ? 'not monitored' : state;
}

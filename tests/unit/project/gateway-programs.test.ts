/** `npm run test:gateways` installs missing programs, or fails; it never skips tests. */
import { describe, expect, it } from 'vitest';
import { ensureGatewayPrograms } from '../../support/runner/gateway-programs.js';

/** A machine on which apt-get brings what it can. */
function machine(state: { isRoot: boolean; hasApt?: boolean; lacks: string[]; unknown?: string[] }) {
	const installed: string[][] = [];
	let lacks = state.lacks;
	return {
		installed,
		isRoot: () => state.isRoot,
		missing: () => lacks,
		canInstall: () => state.isRoot && (state.hasApt ?? true),
		install(packages: string[]) {
			installed.push(packages);
			lacks = lacks.filter((name) => state.unknown?.includes(name));
		}
	};
}

describe('the programs of gateways', () => {
	it('are not touched where all are there', () => {
		const own = machine({ isRoot: true, lacks: [] });
		expect(ensureGatewayPrograms(own)).toBeNull();
		expect(own.installed).toEqual([]);
	});

	it('are installed where that may be done: those that are missing, at once', () => {
		const own = machine({ isRoot: true, lacks: ['freeradius', 'opennds'] });
		expect(ensureGatewayPrograms(own)).toBeNull();
		expect(own.installed).toEqual([['freeradius', 'opennds']]);
	});

	it('that could not be had are named, with the command', () => {
		const own = machine({ isRoot: true, lacks: ['freeradius', 'opennds'], unknown: ['opennds'] });
		expect(ensureGatewayPrograms(own)).toMatch(
			/Debian's packages opennds\. As root: apt-get install --no-install-recommends opennds$/m
		);
		const noDebian = machine({ isRoot: true, hasApt: false, lacks: ['freeradius'] });
		expect(ensureGatewayPrograms(noDebian)).toContain("Debian's packages freeradius.");
		expect(noDebian.installed).toEqual([]);
	});

	it('are not installed by others than root, who are told all that they need', () => {
		const own = machine({ isRoot: false, lacks: ['freeradius', 'opennds'] });
		const said = ensureGatewayPrograms(own);
		expect(said).toContain("Debian's packages freeradius, opennds.");
		expect(said).toContain('root, on Linux');
		expect(own.installed).toEqual([]);
		// With all programs there, the namespaces still need it.
		expect(ensureGatewayPrograms(machine({ isRoot: false, lacks: [] }))).toBe(
			'The tests with real gateways need\n\t- root, on Linux: run this command as root, for example by sudo'
		);
	});
});

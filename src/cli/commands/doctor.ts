import { ConfigError, loadConfig, type Config } from '#lib/server/config/config.ts';
import { checkAddresses } from '../checks/addresses.ts';
import { checkBasemap } from '../checks/basemap.ts';
import { checkDatabase } from '../checks/database.ts';
import { checkDisk } from '../checks/disk.ts';
import { fail, ok, warn, type Finding } from '../checks/finding.ts';
import { checkGateways } from '../checks/gateways.ts';
import { checkMail } from '../checks/mail.ts';
import { checkOperators } from '../checks/operators.ts';
import { parseCommand, positionals, type Command, type Context } from '../support/command.ts';
import { isExpected, messageOf } from '../support/errors.ts';
import { plain, print } from '../support/output.ts';

export const doctor: Command = {
	name: 'doctor',
	parameters: '',
	summary:
		'Check configuration, database, clock, disk, secret, operators, gateways, addresses, mail and map.',
	help: 'One line for each check: ok, warn or FAIL, what was found, and what to do. The exit code is 1 after a FAIL.',
	async run(args, context) {
		positionals(parseCommand(args, {}).positionals, []);
		let failed = false;
		for await (const { level, name, what, advice } of examine(context)) {
			failed ||= level === 'FAIL';
			await print(plain(`${level} ${name}: ${what}${advice === null ? '' : ` - ${advice}`}`));
		}
		return failed ? 1 : 0;
	}
};

async function* examine({ env }: Context): AsyncGenerator<Finding> {
	let config: Config;
	try {
		config = loadConfig(env);
	} catch (error) {
		yield* configurationFailures(error);
		return;
	}
	const { mode, currency, defaultRegion, reportTimezone } = config;
	yield ok('configuration', `${mode} mode, ${currency}, ${defaultRegion}, ${reportTimezone}`);
	const isUsable = yield* checkDatabase(config);
	yield* checkDisk(config);
	if (isUsable) {
		yield* checkOperators(config);
		yield* checkGateways(config);
	} else yield warn('operator', 'not checked', 'first correct what failed above');
	yield* checkAddresses(config);
	yield* checkMail(config);
	yield* checkBasemap(config);
}

function* configurationFailures(error: unknown): Generator<Finding> {
	const advice = 'correct the environment variable; "settings list" describes it';
	if (error instanceof ConfigError) {
		for (const problem of error.problems) yield fail('configuration', problem, advice);
	} else if (isExpected(error)) {
		// The sandbox's secret could not be read or created.
		yield fail('configuration', messageOf(error), 'let this user read and write DATA_DIR');
	} else {
		throw error;
	}
}

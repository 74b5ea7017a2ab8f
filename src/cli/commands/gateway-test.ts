import { plain, print } from '../support/output.ts';
import { checkGatewayHere } from '../checks/gateway.ts';
import { parseCommand, positionals, type Command } from '../support/command.ts';
import { knownGateway } from '../support/known-gateway.ts';
import { withConfiguredApp } from '../support/services.ts';

export const testGateway: Command = {
	name: 'gateways test',
	parameters: 'NAME',
	summary: 'Check a gateway.',
	help: 'One line for each check: ok, warn or FAIL, what was found, and what to do. The exit code is 1 after a FAIL.',
	async run(args, context) {
		const [name = ''] = positionals(parseCommand(args, {}).positionals, ['NAME']);
		return withConfiguredApp(context, async (app) => {
			let failed = false;
			for await (const finding of checkGatewayHere(app, await knownGateway(app, name))) {
				failed ||= finding.level === 'FAIL';
				const advice = finding.advice === null ? '' : ` - ${finding.advice}`;
				await print(plain(`${finding.level} ${finding.name}: ${finding.what}${advice}`));
			}
			return failed ? 1 : 0;
		});
	}
};

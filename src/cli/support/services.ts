import { createApp, type App } from '#lib/server/app.ts';
import { loadConfig, type Config } from '#lib/server/config/config.ts';
import { createLog } from '#lib/server/platform/log.ts';
import type { Context } from './command.ts';
import { CommandError, isExpected, messageOf } from './errors.ts';

/** Runs `work` with the application's services on the configured database, without its jobs. */
export async function withApp<Result>(config: Config, work: (app: App) => Promise<Result>): Promise<Result> {
	const app = await openApp(config);
	try {
		return await work(app);
	} finally {
		await app.stop();
	}
}

/** `withApp` with the configuration of the environment. */
export const withConfiguredApp = <Result>({ env }: Context, work: (app: App) => Promise<Result>) =>
	withApp(loadConfig(env), work);

async function openApp(config: Config): Promise<App> {
	try {
		return await createApp(config, { log: createLog('silent') });
	} catch (error) {
		if (!isExpected(error)) throw error;
		throw new CommandError(`The database (${databaseName(config)}) cannot be used: ${messageOf(error)}`, {
			cause: error
		});
	}
}

/** Returns the database's address without user and password. */
export function databaseName({ databaseUrl }: Config): string {
	if (databaseUrl.startsWith('file:')) return databaseUrl;
	if (!URL.canParse(databaseUrl)) return 'PostgreSQL';
	const { protocol, host, pathname } = new URL(databaseUrl);
	return `${protocol}//${host}${pathname}`;
}

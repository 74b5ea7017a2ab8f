import type { TestProject } from 'vitest/node';
import { startPostgres } from './database/postgres.ts';

declare module 'vitest' {
	interface ProvidedContext {
		/** Administrator's URL of the private PostgreSQL; `createDatabaseOn()` makes databases on it. */
		postgresUrl: string;
	}
}

/** One PostgreSQL for all tests of the project, a database for each that wants one. */
export default async function setup(project: TestProject) {
	const postgres = await startPostgres();
	project.provide('postgresUrl', postgres.url);
	return () => postgres.stop();
}

import type { App as AirtillApp } from '#lib/server/app.ts';

declare global {
	namespace App {
		interface Locals {
			app: AirtillApp;
			/** `req_<ULID>`, in answers and logs. */
			requestId: string;
			/** Public address of this installation, without a slash at the end. */
			origin: string;
		}
	}
}

export {};

import type { IncomingMessage } from 'node:http';
import type { ShownBrand } from '#lib/branding/brand.ts';
import type { App as AirtillApp } from '#lib/server/app.ts';
import type { Visitor } from '#lib/server/web/sign-in.ts';

declare global {
	namespace App {
		interface Error {
			message: string;
			/** The service takes no calls for so long; the page tries again by itself. */
			retryAfterSeconds?: number;
		}
		interface PageData {
			/** The owner whose page this is, where there is something to show of them. */
			brand?: ShownBrand | null;
			/** Path of this page, where the address it was asked for by is not the one to keep. */
			ownPath?: string;
			/** The page fills the window by itself, without the site's header and footer. */
			bare?: boolean;
		}
		interface PageState {
			/** The entry that a kiosk puts before itself, so that going back stays in it. */
			kiosk?: true;
		}
		/** What adapter-node adds. */
		interface Platform {
			req: IncomingMessage;
		}
		interface Locals {
			app: AirtillApp;
			/** `req_<ULID>`, in answers and logs. */
			requestId: string;
			/** Public address of this installation, without a slash at the end. */
			origin: string;
			/** Who is signed in to the developer area, once somebody has asked. */
			visitor?: Promise<Visitor | null>;
			/** Style rules of the owner whose page this is, and of this page alone (web/brand.ts). */
			accentRules?: string | null;
			signRules?: string;
			pageRules?: string;
		}
	}
}

export {};

import type { IncomingMessage } from 'node:http';
import type { ShownBrand } from '#lib/domain/brand.ts';
import type { KioskScreen } from '#lib/kiosk/idle.ts';
import type { App as AirtillApp } from '#lib/server/app.ts';
import type { RedirectedDevice } from '#lib/server/http/client-address.ts';
import type { OwnerVisitor } from '#lib/server/web/owner/owner.ts';
import type { UnsentForm, Visitor } from '#lib/server/web/sign-in/sign-in.ts';

declare global {
	namespace App {
		interface Error {
			message: string;
			/** Time until the service accepts calls. The page retries automatically. */
			retryAfterSeconds?: number;
			unsent?: UnsentForm;
		}
		interface PageData {
			brand?: ShownBrand | null;
			/** Path to keep for this page, if it differs from the requested one. */
			ownPath?: string;
			/** The page is on the screen of a kiosk. */
			kiosk?: KioskScreen | null;
		}
		interface Platform {
			req: IncomingMessage;
		}
		interface Locals {
			app: AirtillApp;
			/** `req_<ULID>`, in responses and logs. */
			requestId: string;
			/** The client's address in its one spelling; null if it is not known (http/client-address.ts). */
			clientAddress: () => string | null;
			/** The device that orders on this page, if a gateway redirected it. */
			redirectedDevice?: RedirectedDevice;
			/** Public address of this installation, without a trailing slash. */
			origin: string;
			/** The person signed in to the developer area, once read. */
			visitor?: Promise<Visitor | null>;
			/** The form of somebody who is not signed in, once read. */
			unsentForm?: Promise<UnsentForm | null>;
			/** The person on the owner pages, once read. */
			ownerVisitor?: Promise<OwnerVisitor>;
			/** Style rules of the page's owner (portal/brand.ts). */
			accentRules?: string | null;
			signRules?: string;
		}
	}
}

export {};
